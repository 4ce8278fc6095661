//! Making a journal's decisions again. The full build alone can: an order's rules are not complete without the schema engine.

#[cfg(feature = "full")]
pub(crate) use full::Decider;
#[cfg(not(feature = "full"))]
pub(crate) use small::Decider;

#[cfg(feature = "full")]
mod full {
    use std::collections::HashMap;

    use bailiwick_core::hash::hex;
    use bailiwick_core::heart::BlobReader;
    use bailiwick_core::heart::replay::Replay;
    use bailiwick_core::journal::Entry;
    use bailiwick_core::journal::export::ExportedBlob;
    use bailiwick_core::json::Object;

    use crate::fault::Fault;
    use crate::validate::engine;

    /// Decides every entry again as it goes by.
    pub(crate) struct Decider {
        replay: Replay<'static>,
        /// Those of the next entry
        blobs: HashMap<String, Vec<u8>>,
    }

    impl Decider {
        pub(crate) fn new() -> Result<Self, Fault> {
            Ok(Self { replay: Replay::new(engine()), blobs: HashMap::new() })
        }

        pub(crate) fn blob(&mut self, blob: &ExportedBlob<'_>) {
            self.blobs.insert(hex(&blob.digest), blob.bytes.to_vec());
        }

        pub(crate) fn entry(&mut self, text: &[u8]) {
            let blobs = std::mem::take(&mut self.blobs);
            // What is no entry fails the chain.
            if let Ok(entry) = Entry::read(text) {
                self.replay.push(&entry, &BlobReader::new(&|digest| blobs.get(digest).cloned()));
            }
        }

        /// Adds `decisions`; a journal that differs from the rules is not `ok`.
        pub(crate) fn report_to(self, report: &mut Object) {
            let (replay, _) = self.replay.finish();
            let decisions = Object::new()
                .with("decided", replay.decided)
                .with("applied", replay.applied)
                .with("erased", replay.erased)
                .with("decided_all", replay.decided_all());
            let difference = replay.first_difference.map(|difference| {
                Object::new()
                    .with("sequence", difference.sequence)
                    .with("code", difference.what.code())
                    .with("message", difference.what.to_string())
            });
            if difference.is_some() {
                report.insert("ok", false);
            }
            report.insert("decisions", decisions.with_some("first_difference", difference));
        }
    }
}

#[cfg(not(feature = "full"))]
mod small {
    use bailiwick_core::journal::export::ExportedBlob;
    use bailiwick_core::json::Object;

    use crate::fault::Fault;

    /// There is none in this build.
    pub(crate) enum Decider {}

    impl Decider {
        pub(crate) fn new() -> Result<Self, Fault> {
            Err(Fault::argument("decisions", "the full build, `bailiwick/full`: this one has no schema engine"))
        }

        pub(crate) fn blob(&mut self, _: &ExportedBlob<'_>) {
            match *self {}
        }

        pub(crate) fn entry(&mut self, _: &[u8]) {
            match *self {}
        }

        pub(crate) fn report_to(self, _: &mut Object) {
            match self {}
        }
    }
}
