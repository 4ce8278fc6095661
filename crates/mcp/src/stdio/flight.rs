//! How many requests are under way: a client that sends without reading the answers must wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most requests under way in one session.
const MOST: usize = 256;

/// The requests under way, each with its permit.
pub(super) struct Flight {
    room: Arc<Semaphore>,
    permits: Mutex<HashMap<RequestId, OwnedSemaphorePermit>>,
}

impl Flight {
    pub(super) fn new() -> Self {
        Self { room: Arc::new(Semaphore::new(MOST)), permits: Mutex::default() }
    }

    /// A message comes in. A request waits until there is room; a request taken back makes room, for it is not
    /// answered.
    pub(super) async fn take_off(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                // INVARIANT: the semaphore is never closed.
                if let Ok(permit) = Arc::clone(&self.room).acquire_owned().await {
                    self.permits().insert(request.id.clone(), permit);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.permits().remove(id);
                }
            }
            _ => {}
        }
    }

    /// An answer went out.
    pub(super) fn land(&self, message: &TxJsonRpcMessage<RoleServer>) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            self.permits().remove(id);
        }
    }

    fn permits(&self) -> MutexGuard<'_, HashMap<RequestId, OwnedSemaphorePermit>> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
