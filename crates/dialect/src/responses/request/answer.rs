//! The result of a call that was not run, in the form for its kind of call.

use callgate_json::{Reader as Json, quote};

use crate::json::member;
use crate::object::{Raw, object};
use crate::request::{RemovedCall, whole_object};

/// The item that answers `call`; `None` for kinds whose result cannot state the reason.
pub(in crate::responses) fn result(call: &RemovedCall) -> Option<String> {
    let item = whole_object(&call.original)?;
    let kind = member(&call.original, item, "type")?;
    let kind = Json::at(&call.original, kind).string().ok()?.decode().ok()?;
    let (id, why) = (quote(&call.id), quote(&call.why));
    Some(match kind.as_ref() {
        "function_call" | "custom_tool_call" | "local_shell_call" => {
            format!("{{\"type\":\"{kind}_output\",\"call_id\":{id},\"output\":{why}}}")
        }
        "shell_call" => {
            object! {
                "type": "shell_call_output", "call_id": Raw(&id), "output": [
                    {
                        "stdout": "", "stderr": Raw(&why),
                        "outcome": { "type": "exit", "exit_code": 1 },
                    },
                ],
            }
        }
        "apply_patch_call" => {
            object! {
                "type": "apply_patch_call_output", "call_id": Raw(&id), "status": "failed",
                "output": Raw(&why),
            }
        }
        "tool_search_call" => {
            object! {
                "type": "tool_search_output", "call_id": Raw(&id), "execution": "client",
                "status": "completed", "tools": [],
            }
        }
        "mcp_approval_request" => {
            object! {
                "type": "mcp_approval_response", "approval_request_id": Raw(&id), "approve": false,
                "reason": Raw(&why),
            }
        }
        // A computer answers with a screenshot; for other kinds the format of the result is
        // unknown.
        _ => return None,
    })
}
