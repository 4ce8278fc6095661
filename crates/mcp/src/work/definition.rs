//! What a client is told about the tools of this toolset (`spec work-orders §14.2`).

use serde_json::json;

use super::schema::{
    acting, amounts, arguments, described, handoff, object, order_id, page, pass, reference, started, states, string,
    strings, submitted, track_record, view,
};
use crate::tool::{Definition, Nature};

/// How the descriptions ask for points in time.
const TIMESTAMP: &str = "RFC 3339, such as 2026-01-31T17:00:00Z";

pub(super) fn create() -> Definition {
    let criterion = arguments(json!({"id": string(), "text": string()}), &["id", "text"]);
    let context = arguments(json!({"uri": string(), "note": string()}), &["uri"]);
    let input = json!({
        "to": described("string", "the worker"),
        "goal": described("string", "what to achieve"),
        "criteria": {"type": "array", "minItems": 1, "items": criterion, "description": "how done is judged; each provable with evidence"},
        "budget": amounts("upper limits; at least one"),
        "deadline": described("string", TIMESTAMP),
        "tools": strings("what the worker may call: `server/tool`, `server/*` or `*`"),
        "staged": strings("those of the calls that wait for your approval of the report"),
        "escalate_to": described("string", "who else may answer when the worker is blocked"),
        "inputs": described("object", "structured inputs"),
        "context": {"type": "array", "items": context, "description": "what to read"},
        "handoff": handoff("what earlier work established"),
        "output_schema": described("object", "JSON Schema that result.output must match when done"),
        "parent_id": described("string", "your own order to split"),
        "continues": described("string", "the finished order to pick up from"),
        "id": described("string", "made up if left out"),
        "metadata": object(),
    });
    Definition {
        name: "create_work_order",
        title: "Create work order",
        description: "Hand a job to a worker as a work order: goal, criteria, budget, deadline, and the tools it may call. \
            You become its manager. Every criterion must be provable with evidence, so write what a reviewer can check. \
            `parent_id` splits an order that was given to you; the sub-order may only narrow its tools, budget and \
            deadline. `continues` picks up from a finished order of yours.",
        nature: Nature::Adds,
        input: acting(input, &["to", "goal", "criteria", "budget", "deadline", "tools"]),
        output: view(),
    }
}

pub(super) fn list() -> Definition {
    let input = json!({
        "to": described("string", "only orders to this worker"),
        "from": described("string", "only orders from this manager"),
        "state": states(),
        "parent_id": described("string", "only sub-orders of this order"),
        "continues": described("string", "only orders that pick up from this one"),
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
        "cursor": described("string", "next_cursor of the page before"),
    });
    Definition {
        name: "list_work_orders",
        title: "List work orders",
        description: "List orders, oldest first. A worker finds its jobs with `to`=<itself> and `state`=`offered`; a manager \
            finds what to review with `from`=<itself> and `state`=`submitted`, and questions to answer with `blocked`.",
        nature: Nature::Reads,
        input: arguments(input, &[]),
        output: page(),
    }
}

pub(super) fn show() -> Definition {
    Definition {
        name: "get_work_order",
        title: "Get work order",
        description: "Show one order: the document, its state, the latest report, findings and every event.",
        nature: Nature::Reads,
        input: arguments(json!({"id": order_id()}), &["id"]),
        output: view(),
    }
}

pub(super) fn accept() -> Definition {
    Definition {
        name: "accept_work_order",
        title: "Accept work order",
        description: "Take an order that is offered to you. Read it first: its tools, budget and deadline bind you. Then start it.",
        nature: Nature::Steps,
        input: acting(json!({"id": order_id()}), &["id"]),
        output: view(),
    }
}

pub(super) fn decline() -> Definition {
    Definition {
        name: "decline_work_order",
        title: "Decline work order",
        description: "Turn down an order while it is offered to you, for good. Once accepted, you can only report on it.",
        nature: Nature::Ends,
        input: acting(json!({"id": order_id(), "reason": string()}), &["id"]),
        output: view(),
    }
}

pub(super) fn start() -> Definition {
    Definition {
        name: "start_work_order",
        title: "Start work order",
        description: "Begin to work on an order that you accepted. Where the desk signs passes, the answer has one: `pass`.",
        nature: Nature::Steps,
        input: acting(json!({"id": order_id()}), &["id"]),
        output: started(),
    }
}

pub(super) fn renew() -> Definition {
    let input = json!({
        "id": order_id(),
        "audience": strings("the only ones who may accept it"),
        "holder": described("object", "public JWK of the only one who may use it, with a proof for each call"),
    });
    Definition {
        name: "renew_work_pass",
        title: "Renew work pass",
        description: "Get a fresh pass for an order that you are working on: the signed proof of what you may call, to show where \
            the desk cannot be asked. It is short-lived; renew it before `expires_at`, and after an answer or a rework. \
            Keep it secret: whoever has it can use it.",
        nature: Nature::Adds,
        input: acting(input, &["id"]),
        output: pass(),
    }
}

pub(super) fn progress() -> Definition {
    let input = json!({
        "id": order_id(),
        "note": described("string", "how far you are"),
        "percent": {"type": "number", "minimum": 0, "maximum": 100},
    });
    Definition {
        name: "report_progress",
        title: "Report progress",
        description: "Leave a note on an order that you are working on. Its state stays; whoever follows the order sees it at once.",
        nature: Nature::Adds,
        input: acting(input, &["id", "note"]),
        output: view(),
    }
}

pub(super) fn report() -> Definition {
    let artifact = arguments(json!({"uri": string(), "media_type": string(), "note": string()}), &["uri"]);
    let result = arguments(
        json!({
            "summary": string(),
            "output": {"description": "matches the order's output_schema"},
            "artifacts": {"type": "array", "items": artifact},
        }),
        &["summary"],
    );
    let evidence = arguments(
        json!({
            "criterion": described("string", "the criterion's id"),
            "type": {"type": "string", "enum": ["tool_call", "artifact", "citation", "note"]},
            "ref": described("string", "what a reviewer can open or replay: a URI, or `server/tool#n` for the order's n-th call"),
            "note": string(),
        }),
        &["criterion", "type"],
    );
    let effect = arguments(
        json!({"ref": string(), "tool": string(), "arguments": object(), "reversible": {"type": "boolean"}}),
        &["ref", "tool", "arguments"],
    );
    let input = json!({
        "id": order_id(),
        "status": {"type": "string", "enum": ["done", "blocked", "failed"]},
        "result": result,
        "evidence": {"type": "array", "items": evidence},
        "cost": amounts("what this order has cost so far, in every unit of its budget; sub-orders not included"),
        "tools_used": strings("every tool really called, as `server/tool`"),
        "effects": {"type": "array", "items": effect, "description": "staged calls to run on approval, in order; `ref` is `server/tool#n`; arguments may use an earlier result as {\"$ref\": its ref, \"pointer\": \"/...\"}"},
        "started_at": described("string", TIMESTAMP),
        "finished_at": described("string", "now if left out"),
        "questions": strings("for `blocked`"),
        "error": described("string", "for `failed`"),
        "handoff": handoff("what you established, for whoever takes over"),
        "metadata": object(),
    });
    Definition {
        name: "submit_work_report",
        title: "Submit work report",
        description: "Report on an order that you are working on; an accepted one is started by it. `done` needs evidence for \
            each criterion, `blocked` needs `questions`, `failed` needs an `error`; add a `handoff` to the last two. \
            A refused report comes back with its failed checks and nothing is stored, so fix them and send it again. \
            A report over budget or past the deadline is kept, and the order expires.",
        nature: Nature::Adds,
        input: acting(input, &["id", "status", "result", "evidence", "cost", "tools_used"]),
        output: submitted(),
    }
}

pub(super) fn answer() -> Definition {
    Definition {
        name: "answer_question",
        title: "Answer question",
        description: "Answer the questions of a blocked worker, as the order's manager or its `escalate_to`. The order goes back to working.",
        nature: Nature::Adds,
        input: acting(json!({"id": order_id(), "answer": string()}), &["id", "answer"]),
        output: view(),
    }
}

pub(super) fn review() -> Definition {
    let input = json!({
        "id": order_id(),
        "decision": {"type": "string", "enum": ["approve", "rework"]},
        "reason": described("string", "needed for `rework`: what is missing"),
        "effects": strings("refs of the staged effects to approve; all if left out"),
    });
    Definition {
        name: "review_work_report",
        title: "Review work report",
        description: "Decide on the report of an order that you manage, after checking the evidence for each criterion. \
            `approve` finishes the order and releases its staged effects; `rework` sends it back to working.",
        nature: Nature::Decides,
        input: acting(input, &["id", "decision"]),
        output: view(),
    }
}

pub(super) fn allow_retry() -> Definition {
    Definition {
        name: "allow_effect_retry",
        title: "Allow effect retry",
        description: "Let a staged effect that failed, or was started and never finished, be carried out once more. If it did run \
            after all, it then happens twice: find out first. For the manager of an approved order.",
        nature: Nature::Decides,
        input: acting(json!({"id": order_id(), "ref": reference(), "reason": string()}), &["id", "ref"]),
        output: view(),
    }
}

pub(super) fn cancel() -> Definition {
    Definition {
        name: "cancel_work_order",
        title: "Cancel work order",
        description: "Call off an order that you manage, for good, in any state that is not final. Its sub-orders go on. To give the \
            job to somebody else, create an order that `continues` it.",
        nature: Nature::Ends,
        input: acting(json!({"id": order_id(), "reason": string()}), &["id"]),
        output: view(),
    }
}

pub(super) fn wait() -> Definition {
    let input = json!({
        "id": order_id(),
        "since_seq": {"type": "integer", "minimum": 0, "description": "the last_seq that you have seen"},
        "timeout_s": {"type": "number", "minimum": 1, "maximum": 55, "default": 25},
    });
    Definition {
        name: "wait_for_update",
        title: "Wait for update",
        description: "Follow an order live: answers as soon as it has an event after `since_seq`, or unchanged after `timeout_s` \
            seconds. Call it again with the new `last_seq` to go on.",
        nature: Nature::Reads,
        input: arguments(input, &["id", "since_seq"]),
        output: view(),
    }
}

pub(super) fn track_record_of() -> Definition {
    Definition {
        name: "get_track_record",
        title: "Get track record",
        description: "What an agent has done here: its orders by state, how many were approved at the first report, reworks, and what \
            it spent of its budgets. Look at it before you choose a worker.",
        nature: Nature::Reads,
        input: arguments(json!({"agent": described("string", "yourself if left out")}), &[]),
        output: track_record(),
    }
}
