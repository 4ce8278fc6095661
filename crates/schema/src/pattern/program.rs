//! Syntax tree to program.

use std::ops::Range;
use std::sync::Arc;

use super::Room;
use super::parse::{Ast, Look, Parsed, Reference, Repeat, Set};

/// Steps of a program whose repeats are written out.
const MOST_STEPS: usize = 10_000;

/// What to do at a position in the text, and where to go on. A step without an explicit target goes on with the next.
#[derive(Debug)]
pub(super) enum Step {
    /// Take one character of this set, forwards or backwards
    Take {
        set: Arc<Set>,
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
    /// Writes repeats out if there is room for that.
    pub(super) fn compile(parsed: &Parsed, room: &mut Room) -> Self {
        let size = written_out(&parsed.ast);
        let writes_out = !parsed.has_references && size <= MOST_STEPS.min(room.0 / 4);
        if writes_out {
            room.take(size);
        }
        Compiler { parsed, steps: Vec::new(), writes_out, counters: 0 }.compile()
    }
}

/// How many steps a part has when its repeats are written out.
fn written_out(ast: &Ast) -> usize {
    match ast {
        Ast::Empty => 0,
        Ast::Set(_) | Ast::Start | Ast::End | Ast::Boundary { .. } | Ast::BackReference(_) => 1,
        Ast::Capture(_, body) => written_out(body),
        Ast::Concat(parts) => parts.iter().map(written_out).fold(0, usize::saturating_add),
        Ast::Either(branches) => {
            branches.iter().map(|branch| written_out(branch).saturating_add(2)).fold(0, usize::saturating_add)
        }
        Ast::Look(look) => written_out(&look.body).saturating_add(2),
        Ast::Repeat(repeat) => {
            let body = written_out(&repeat.body);
            let times = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
            let rest = match repeat.most {
                u32::MAX => body.saturating_add(2),
                most => body.saturating_add(1).saturating_mul(times(most.saturating_sub(repeat.least))),
            };
            body.saturating_mul(times(repeat.least)).saturating_add(rest)
        }
    }
}

struct Compiler<'a> {
    parsed: &'a Parsed,
    steps: Vec<Step>,
    /// Whether repeats are written out rather than counted
    writes_out: bool,
    counters: usize,
}

impl Compiler<'_> {
    fn compile(mut self) -> Program {
        self.ast(&self.parsed.ast, false);
        self.add(Step::Match);
        let slots = if self.writes_out { 0 } else { (self.parsed.groups + 1) * 2 };
        Program { steps: self.steps, counts: !self.writes_out, slots, counters: self.counters }
    }

    /// Adds a step.
    fn add(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds a step; says where it is.
    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
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

    fn ast(&mut self, ast: &Ast, back: bool) {
        match ast {
            Ast::Empty => {}
            Ast::Set(set) => self.add(Step::Take { set: Arc::clone(set), back }),
            Ast::Start => self.add(Step::Start),
            Ast::End => self.add(Step::End),
            Ast::Boundary { is } => self.add(Step::Boundary { is: *is }),
            Ast::Capture(number, body) => self.capture(*number, body, back),
            Ast::BackReference(reference) => self.back_reference(reference, back),
            // Backwards, the last part comes first.
            Ast::Concat(parts) if back => parts.iter().rev().for_each(|part| self.ast(part, back)),
            Ast::Concat(parts) => parts.iter().for_each(|part| self.ast(part, back)),
            Ast::Either(branches) => self.either(branches, back),
            Ast::Repeat(repeat) if self.writes_out => self.write_out(repeat, back),
            Ast::Repeat(repeat) => self.count(repeat, back),
            Ast::Look(look) => self.look(look),
        }
    }

    fn capture(&mut self, number: usize, body: &Ast, back: bool) {
        if self.writes_out {
            return self.ast(body, back);
        }
        let (first, last) = if back { (number * 2 + 1, number * 2) } else { (number * 2, number * 2 + 1) };
        self.add(Step::Save { slot: first });
        self.ast(body, back);
        self.add(Step::Save { slot: last });
    }

    fn back_reference(&mut self, reference: &Reference, back: bool) {
        let group = match reference {
            Reference::Number(number) => *number,
            // The parser has checked that there is one.
            Reference::Name(name) => self.parsed.names.get(name).copied().unwrap_or_default(),
        };
        self.add(Step::BackReference { group, back });
    }

    fn either(&mut self, branches: &[Ast], back: bool) {
        let mut ends = Vec::with_capacity(branches.len());
        let last = branches.len().saturating_sub(1);
        for (index, branch) in branches.iter().enumerate() {
            if index == last {
                self.ast(branch, back);
                break;
            }
            let split = self.push(Step::Split { otherwise: 0 });
            self.ast(branch, back);
            ends.push(self.push(Step::Jump { to: 0 }));
            self.land(split);
        }
        for end in ends {
            self.land(end);
        }
    }

    fn write_out(&mut self, repeat: &Repeat, back: bool) {
        for _ in 0..repeat.least {
            let before = self.steps.len();
            self.ast(&repeat.body, back);
            if self.steps.len() == before {
                // Nothing, however often.
                return;
            }
        }
        if repeat.most == u32::MAX {
            let split = self.push(Step::Split { otherwise: 0 });
            self.ast(&repeat.body, back);
            self.add(Step::Jump { to: split });
            self.land(split);
            return;
        }
        let mut splits = Vec::new();
        for _ in repeat.least..repeat.most {
            splits.push(self.push(Step::Split { otherwise: 0 }));
            self.ast(&repeat.body, back);
        }
        for split in splits {
            self.land(split);
        }
    }

    fn count(&mut self, repeat: &Repeat, back: bool) {
        let counter = self.counters;
        self.counters += 1;
        self.add(Step::LoopStart { counter });
        let test = self.push(Step::LoopTest {
            counter,
            least: repeat.least,
            most: repeat.most,
            exit: 0,
            captures: repeat.captures.start * 2..repeat.captures.end * 2,
        });
        self.ast(&repeat.body, back);
        self.add(Step::LoopEnd { counter, test });
        self.land(test);
    }

    fn look(&mut self, look: &Look) {
        let at = self.push(Step::Look { negative: look.negative, behind: look.behind, then: 0 });
        self.ast(&look.body, look.behind);
        self.add(Step::Match);
        self.land(at);
    }
}
