//! What the package adds in JavaScript.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const SECTION: &'static str = SURFACE;

// Evaluated by the macro above; the compiler does not see that as a use.
#[allow(dead_code)]
const SURFACE: &str = r#"
/** The newest version of the order document. */
export declare const ORDER_SPEC: 'awl/work-order@0.4';
/** The newest version of the report document. */
export declare const REPORT_SPEC: 'awl/work-report@0.3';
/** Who takes each action. `answer` is open to the escalation contact, too. */
export declare const ROLE_FOR: { readonly [action in Action]: Role };
/** The published JSON Schema of orders. */
export declare const workOrderSchema: JsonObject;
/** The published JSON Schema of reports. */
export declare const workReportSchema: JsonObject;

/** The stable name of an error. */
export type ErrorCode =
  // the module
  | 'not_ready' | 'not_loaded' | 'internal' | 'not_in_this_build'
  // arguments
  | 'invalid_argument' | 'unsupported_value' | 'cyclic_value' | 'unreadable_value' | 'verifier_finished'
  // JSON text
  | 'too_long' | 'invalid_utf8' | 'byte_order_mark' | 'unexpected_end' | 'unexpected_text' | 'trailing_text'
  | 'too_deep' | 'control_character' | 'invalid_escape' | 'unpaired_surrogate' | 'invalid_number'
  | 'number_out_of_range' | 'string_too_long' | 'too_many_members' | 'duplicate_name'
  // journals
  | 'export_empty' | 'export_format' | 'export_json' | 'export_line_too_long' | 'export_too_long' | 'export_line'
  | 'export_member' | 'export_blobs' | 'decisions_absent' | 'invalid_cursor' | 'cursor_mismatch'
  // proofs
  | 'index_beyond_tree' | 'tree_shrank' | 'empty_tree' | 'proof_too_long' | 'proof_length' | 'root_mismatch'
  | 'old_root_mismatch';

/** Why a call has no answer. What a check finds is never an error. */
export declare class BailiwickError extends Error {
  constructor(
    code: ErrorCode,
    message: string,
    place?: { path?: string; offset?: number; line?: number; column?: number; cause?: unknown },
  );
  readonly name: 'BailiwickError';
  /** The stable name. */
  readonly code: ErrorCode;
  /** Where in a value: a JSON Pointer; the root is `/`. */
  readonly path?: string;
  /** Where in a text: UTF-16 code units from the start of a string, bytes from the start of bytes. */
  readonly offset?: number;
  /** Where in a text or an export: the line, from 1. */
  readonly line?: number;
  /** Where in a text: the character in the line, from 1. */
  readonly column?: number;
}

/** What a journal verifier is to look for. */
export interface JournalOptions {
  /** The workspace whose journal it must be. */
  workspace_id?: string;
  /** The sequence up to which to verify; a journal that is shorter fails. */
  up_to?: number | bigint;
  /** `again` makes every decision of the journal again and compares. Only the full build can. */
  decisions?: 'again';
}

/** How far a verifier is. */
export interface JournalProgress {
  /** Entries in order so far. */
  readonly entries: number;
  /** Bytes so far. */
  readonly bytes: number;
}

/** Verifies one journal export that arrives in chunks, in memory that does not grow with it. */
export declare class JournalVerifier implements JournalProgress {
  constructor(options?: JournalOptions);
  /** Takes the next bytes, or the next part of the text. */
  push(chunk: Uint8Array | ArrayBuffer | ArrayBufferView | string): this;
  /** Reports, once everything has arrived. Throws if it cannot be read as a journal. */
  finish(): JournalReport;
  /** Entries in order so far. A `coordination-journal/1` document is looked at only when all of it is there. */
  readonly entries: number;
  /** Bytes so far. */
  readonly bytes: number;
}

/** A piece of a journal. */
export type Chunk = Uint8Array | ArrayBuffer | ArrayBufferView | string;
/** A journal as it may be given: whole, in chunks, as a stream, or as a file. */
export type JournalSource =
  | Chunk
  | Iterable<Chunk>
  | AsyncIterable<Chunk>
  | { getReader(): { read(): Promise<{ done: boolean; value?: Chunk | undefined }>; cancel(): Promise<unknown> } }
  | { stream(): JournalSource };

/** Verifies a journal export. */
export declare function verifyJournal(
  journal: JournalSource,
  options?: JournalOptions & { onProgress?: (progress: JournalProgress) => void },
): Promise<JournalReport>;

/** Where the wasm module comes from: its address, a response, its bytes, or compiled already. */
export type ModuleSource = string | object;

/**
 * Makes the module ready. Node, Deno and Bun are ready on import; browsers load the file that lies beside the entry unless
 * they are given another source; edge workers must be given the compiled module.
 */
export declare function init(source?: ModuleSource | Promise<ModuleSource>): Promise<void>;
export default init;
"#;

#[cfg(test)]
mod tests {
    use bailiwick_core::work::{ORDER_SPEC, REPORT_SPEC};

    use super::SURFACE;

    #[test]
    fn the_newest_versions_are_named() {
        assert!(SURFACE.contains(&format!("ORDER_SPEC: '{ORDER_SPEC}'")));
        assert!(SURFACE.contains(&format!("REPORT_SPEC: '{REPORT_SPEC}'")));
    }
}
