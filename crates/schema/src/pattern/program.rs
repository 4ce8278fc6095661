//! Syntax tree to program.

use std::ops::Range;

use super::parse::{Ast, Look, Parsed, Reference, Repeat, Set};

/// Steps of a program whose repeats are written out.
const MOST_STEPS: usize = 10_000;

/// What to do at a position in the text, and where to go on. A step without an explicit target goes on with the next.
#[derive(Debug)]
pub(super) enum Step {
    /// Take one character of this set, forwards or backwards
    Take {
        set: Set,
        back: bool,
    },
    Start,
    End,
    Boundary {
        is: bool,
    },
    /// Try the next step, and if that fails the one named
    Split {
        otherwise: usize,
    },
    Jump {
        to: usize,
    },
    /// Remember the position in a slot
    Save {
        slot: usize,
    },
    /// Take what a group captured; nothing when it captured nothing
    BackReference {
        group: usize,
        back: bool,
    },
    /// Run the steps that follow, up to their `Match`, at this position
    Look {
        negative: bool,
        behind: bool,
        then: usize,
    },
    /// Start counting rounds
    LoopStart {
        counter: usize,
    },
    /// Go round once more, or leave, or try both
    LoopTest {
        counter: usize,
        least: u32,
        most: u32,
        exit: usize,
        captures: Range<usize>,
    },
    /// The end of a round
    LoopEnd {
        counter: usize,
        test: usize,
    },
    Match,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// Whether there are steps that save, refer back or count
    pub(super) counts: bool,
    pub(super) slots: usize,
    pub(super) counters: usize,
}

impl Program {
    pub(super) fn compile(parsed: &Parsed) -> Self {
        let written_out = if parsed.has_references { None } else { Compiler::new(parsed, true).compile() };
        // Counting needs no budget: its programs are about as long as their pattern.
        written_out.or_else(|| Compiler::new(parsed, false).compile()).unwrap_or_else(Self::never)
    }

    /// A program that matches nothing.
    fn never() -> Self {
        Self { steps: vec![Step::Take { set: Set::default(), back: false }], counts: false, slots: 0, counters: 0 }
    }
}

struct Compiler<'a> {
    parsed: &'a Parsed,
    steps: Vec<Step>,
    /// Whether repeats are written out rather than counted
    writes_out: bool,
    counters: usize,
}

impl<'a> Compiler<'a> {
    fn new(parsed: &'a Parsed, writes_out: bool) -> Self {
        Self { parsed, steps: Vec::new(), writes_out, counters: 0 }
    }

    /// The program; `None` when it gets too long.
    fn compile(mut self) -> Option<Program> {
        self.ast(&self.parsed.ast, false)?;
        self.push(Step::Match)?;
        let slots = if self.writes_out { 0 } else { (self.parsed.groups + 1) * 2 };
        Some(Program { steps: self.steps, counts: !self.writes_out, slots, counters: self.counters })
    }

    /// Adds a step; says where it is.
    fn push(&mut self, step: Step) -> Option<usize> {
        if self.writes_out && self.steps.len() >= MOST_STEPS {
            return None;
        }
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    /// Fills in the target of a step pushed earlier: whatever is pushed next.
    fn land(&mut self, at: usize) {
        let here = self.steps.len();
        match self.steps.get_mut(at) {
            Some(Step::Split { otherwise: target } | Step::Jump { to: target }) => *target = here,
            Some(Step::Look { then: target, .. } | Step::LoopTest { exit: target, .. }) => *target = here,
            _ => {}
        }
    }

    fn ast(&mut self, ast: &Ast, back: bool) -> Option<()> {
        match ast {
            Ast::Empty => {}
            Ast::Set(set) => self.push(Step::Take { set: set.clone(), back }).map(drop)?,
            Ast::Start => self.push(Step::Start).map(drop)?,
            Ast::End => self.push(Step::End).map(drop)?,
            Ast::Boundary { is } => self.push(Step::Boundary { is: *is }).map(drop)?,
            Ast::Capture(number, body) => self.capture(*number, body, back)?,
            Ast::BackReference(reference) => self.back_reference(reference, back)?,
            // Backwards, the last part comes first.
            Ast::Concat(parts) if back => parts.iter().rev().try_for_each(|part| self.ast(part, back))?,
            Ast::Concat(parts) => parts.iter().try_for_each(|part| self.ast(part, back))?,
            Ast::Either(branches) => self.either(branches, back)?,
            Ast::Repeat(repeat) if self.writes_out => self.write_out(repeat, back)?,
            Ast::Repeat(repeat) => self.count(repeat, back)?,
            Ast::Look(look) => self.look(look)?,
        }
        Some(())
    }

    fn capture(&mut self, number: usize, body: &Ast, back: bool) -> Option<()> {
        if self.writes_out {
            return self.ast(body, back);
        }
        let (first, last) = if back { (number * 2 + 1, number * 2) } else { (number * 2, number * 2 + 1) };
        self.push(Step::Save { slot: first })?;
        self.ast(body, back)?;
        self.push(Step::Save { slot: last })?;
        Some(())
    }

    fn back_reference(&mut self, reference: &Reference, back: bool) -> Option<()> {
        let group = match reference {
            Reference::Number(number) => *number,
            Reference::Name(name) => *self.parsed.names.get(name)?,
        };
        self.push(Step::BackReference { group, back })?;
        Some(())
    }

    fn either(&mut self, branches: &[Ast], back: bool) -> Option<()> {
        let mut ends = Vec::with_capacity(branches.len());
        let last = branches.len().saturating_sub(1);
        for (index, branch) in branches.iter().enumerate() {
            if index == last {
                self.ast(branch, back)?;
                break;
            }
            let split = self.push(Step::Split { otherwise: 0 })?;
            self.ast(branch, back)?;
            ends.push(self.push(Step::Jump { to: 0 })?);
            self.land(split);
        }
        for end in ends {
            self.land(end);
        }
        Some(())
    }

    fn write_out(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        for _ in 0..repeat.least {
            let before = self.steps.len();
            self.ast(&repeat.body, back)?;
            if self.steps.len() == before {
                // Nothing, however often.
                return Some(());
            }
        }
        if repeat.most == u32::MAX {
            let split = self.push(Step::Split { otherwise: 0 })?;
            self.ast(&repeat.body, back)?;
            self.push(Step::Jump { to: split })?;
            self.land(split);
            return Some(());
        }
        let mut splits = Vec::new();
        for _ in repeat.least..repeat.most {
            splits.push(self.push(Step::Split { otherwise: 0 })?);
            self.ast(&repeat.body, back)?;
        }
        for split in splits {
            self.land(split);
        }
        Some(())
    }

    fn count(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        let counter = self.counters;
        self.counters += 1;
        self.push(Step::LoopStart { counter })?;
        let test = self.push(Step::LoopTest {
            counter,
            least: repeat.least,
            most: repeat.most,
            exit: 0,
            captures: repeat.captures.start * 2..repeat.captures.end * 2,
        })?;
        self.ast(&repeat.body, back)?;
        self.push(Step::LoopEnd { counter, test })?;
        self.land(test);
        Some(())
    }

    fn look(&mut self, look: &Look) -> Option<()> {
        let at = self.push(Step::Look { negative: look.negative, behind: look.behind, then: 0 })?;
        self.ast(&look.body, look.behind)?;
        self.push(Step::Match)?;
        self.land(at);
        Some(())
    }
}
