//! Searching with captures and counters, for programs that need them.
//!
//! This can take exponential time, as it does everywhere; the fuel bounds it.

use super::program::{Program, Step};
use super::run::{Fuel, char_at, is_boundary};

/// What a step costs: undoing it takes memory.
const STEP_COST: usize = 16;

/// Whether the program matches anywhere in the text; `None` when the fuel runs out first.
pub(super) fn search(program: &Program, text: &str, fuel: &mut Fuel) -> Option<bool> {
    let mut search = Search {
        program,
        text,
        fuel,
        slots: vec![None; program.slots],
        counters: vec![Counter::default(); program.counters],
    };
    for (start, _) in text.char_indices() {
        if search.run(0, start)? {
            return Some(true);
        }
    }
    search.run(0, text.len())
}

struct Search<'a> {
    program: &'a Program,
    text: &'a str,
    fuel: &'a mut Fuel,
    /// Where groups start and end
    slots: Vec<Option<usize>>,
    counters: Vec<Counter>,
}

/// How often a loop went round, and where its last round began.
#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    rounds: u32,
    start: usize,
}

/// What to do when everything later has failed.
enum Otherwise {
    Try { step: usize, at: usize },
    Slot { slot: usize, value: Option<usize> },
    Slots(Vec<Option<usize>>),
    Counter { counter: usize, value: Counter },
}

impl Search<'_> {
    /// Whether the steps from `step` on match at a position, up to the next `Match`.
    fn run(&mut self, step: usize, at: usize) -> Option<bool> {
        let mut stack = Vec::new();
        let mut here = Some((step, at));
        loop {
            let (step, at) = match here.take() {
                Some(place) => place,
                None => match stack.pop() {
                    None => return Some(false),
                    Some(Otherwise::Try { step, at }) => (step, at),
                    Some(undo) => {
                        self.undo(undo);
                        continue;
                    }
                },
            };
            self.fuel.burn(STEP_COST)?;
            if matches!(self.program.steps.get(step), Some(Step::Match)) {
                return Some(true);
            }
            here = self.step(step, at, &mut stack)?;
        }
    }

    /// Does one step; says where to go on, or `Some(None)` when the step fails.
    #[allow(clippy::option_option)]
    fn step(&mut self, step: usize, at: usize, stack: &mut Vec<Otherwise>) -> Option<Option<(usize, usize)>> {
        let next = |at| Some((step + 1, at));
        let Some(instruction) = self.program.steps.get(step) else { return Some(None) };
        Some(match instruction {
            Step::Match => None,
            Step::Take { set, back } => {
                char_at(self.text, at, *back).filter(|(c, _)| set.contains(*c)).and_then(|(_, at)| next(at))
            }
            Step::Start => {
                if at == 0 {
                    next(at)
                } else {
                    None
                }
            }
            Step::End => {
                if at == self.text.len() {
                    next(at)
                } else {
                    None
                }
            }
            Step::Boundary { is } => {
                if is_boundary(self.text, at) == *is {
                    next(at)
                } else {
                    None
                }
            }
            Step::Split { otherwise } => {
                stack.push(Otherwise::Try { step: *otherwise, at });
                next(at)
            }
            Step::Jump { to } => Some((*to, at)),
            Step::Save { slot } => {
                self.set_slot(*slot, Some(at), stack);
                next(at)
            }
            Step::BackReference { group, back } => self.captured(*group, at, *back)?.and_then(next),
            Step::Look { negative, then, .. } => {
                if self.look(step + 1, at, *negative, stack)? {
                    Some((*then, at))
                } else {
                    None
                }
            }
            Step::LoopStart { counter } => {
                self.set_counter(*counter, Counter { rounds: 0, start: at }, stack);
                next(at)
            }
            Step::LoopTest { counter, least, most, exit, captures } => {
                let Counter { rounds, .. } = self.counter(*counter);
                if rounds >= *most {
                    return Some(Some((*exit, at)));
                }
                if rounds >= *least {
                    stack.push(Otherwise::Try { step: *exit, at });
                }
                self.set_counter(*counter, Counter { rounds: rounds + 1, start: at }, stack);
                self.fuel.burn(captures.len())?;
                for slot in captures.clone() {
                    self.set_slot(slot, None, stack);
                }
                next(at)
            }
            Step::LoopEnd { counter, test } => {
                let Counter { rounds, start } = self.counter(*counter);
                if at != start {
                    return Some(Some((*test, at)));
                }
                // A round that took nothing: as many as are still needed would take nothing too, and more than
                // that ECMAScript does not allow.
                let Some(Step::LoopTest { least, exit, .. }) = self.program.steps.get(*test) else { return Some(None) };
                if rounds <= *least { Some((*exit, at)) } else { None }
            }
        })
    }

    /// The position beyond what a group captured, if that stands here.
    #[allow(clippy::option_option)]
    fn captured(&mut self, group: usize, at: usize, back: bool) -> Option<Option<usize>> {
        let slot = |slot: usize| self.slots.get(slot).copied().flatten();
        let (Some(start), Some(end)) = (slot(group * 2), slot(group * 2 + 1)) else { return Some(Some(at)) };
        let Some(captured) = self.text.get(start..end) else { return Some(None) };
        self.fuel.burn(captured.len() / 16)?;
        Some(if back {
            self.text.get(..at).is_some_and(|before| before.ends_with(captured)).then(|| at - captured.len())
        } else {
            self.text.get(at..).is_some_and(|rest| rest.starts_with(captured)).then(|| at + captured.len())
        })
    }

    /// Whether a look-around holds. What a positive one captures stays captured.
    fn look(&mut self, body: usize, at: usize, negative: bool, stack: &mut Vec<Otherwise>) -> Option<bool> {
        self.fuel.burn(self.slots.len())?;
        let before = self.slots.clone();
        let found = self.run(body, at)?;
        if found && !negative {
            stack.push(Otherwise::Slots(before));
        } else if found {
            self.slots = before;
        }
        Some(found != negative)
    }

    fn counter(&self, counter: usize) -> Counter {
        self.counters.get(counter).copied().unwrap_or_default()
    }

    fn set_counter(&mut self, counter: usize, value: Counter, stack: &mut Vec<Otherwise>) {
        if let Some(slot) = self.counters.get_mut(counter) {
            stack.push(Otherwise::Counter { counter, value: *slot });
            *slot = value;
        }
    }

    fn set_slot(&mut self, slot: usize, value: Option<usize>, stack: &mut Vec<Otherwise>) {
        if let Some(old) = self.slots.get_mut(slot) {
            stack.push(Otherwise::Slot { slot, value: *old });
            *old = value;
        }
    }

    fn undo(&mut self, undo: Otherwise) {
        match undo {
            Otherwise::Try { .. } => {}
            Otherwise::Slots(slots) => self.slots = slots,
            Otherwise::Slot { slot, value } => {
                if let Some(slot) = self.slots.get_mut(slot) {
                    *slot = value;
                }
            }
            Otherwise::Counter { counter, value } => {
                if let Some(slot) = self.counters.get_mut(counter) {
                    *slot = value;
                }
            }
        }
    }
}
