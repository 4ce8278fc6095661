//! Numbers for whoever runs the server, in the Prometheus text format.
//!
//! Each server has its own recorder, none is global: two in one process do not mix. Labels are names of ours, never
//! text of a client, so their number is bounded.

use std::time::Duration;

use metrics::{Key, KeyName, Label, Level, Metadata, Recorder, SharedString, Unit};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

const REQUESTS: &str = "bailiwick_http_requests_total";
const SECONDS: &str = "bailiwick_http_request_duration_seconds";
const COMMANDS: &str = "bailiwick_commands_total";
const WAITING: &str = "bailiwick_waiting_calls";
const CONNECTIONS: &str = "bailiwick_http_connections";
const HEAD: &str = "bailiwick_journal_head_sequence";
const KEYS: &str = "bailiwick_api_keys";

const METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

/// Upper bounds of the latency histogram, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The numbers of one server.
pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

/// Counts one thing that lasts, until it is dropped.
pub(crate) struct Lasting(metrics::Gauge);

impl Metrics {
    pub(crate) fn new() -> Self {
        // INVARIANT: the list is not empty, which is all that can be refused.
        let builder = PrometheusBuilder::new();
        let recorder = match builder.set_buckets(&BUCKETS) {
            Ok(builder) => builder.build_recorder(),
            Err(_) => PrometheusBuilder::new().build_recorder(),
        };
        let described = [
            (REQUESTS, "answered requests by route, method and status"),
            (COMMANDS, "commands by interface, name and outcome: `ok` or the code of the refusal"),
        ];
        for (name, text) in described {
            recorder.describe_counter(KeyName::from_const_str(name), Some(Unit::Count), SharedString::const_str(text));
        }
        let text = SharedString::const_str("time until the answer, by route; calls that wait are left out");
        recorder.describe_histogram(KeyName::from_const_str(SECONDS), Some(Unit::Seconds), text);
        let described = [
            (WAITING, "calls that wait for a change, event streams and exports"),
            (CONNECTIONS, "open connections"),
            (HEAD, "sequence of the journal's last entry"),
            (KEYS, "API keys in force"),
        ];
        for (name, text) in described {
            recorder.describe_gauge(KeyName::from_const_str(name), Some(Unit::Count), SharedString::const_str(text));
        }
        let handle = recorder.handle();
        Self { recorder, handle }
    }

    /// A request was answered. `took` is left out for one that waited for something.
    pub(crate) fn answered(&self, route: &str, method: &'static str, status: u16, took: Option<Duration>) {
        let route = Label::new("route", route.to_string());
        let labels =
            vec![route.clone(), Label::from_static_parts("method", method), Label::new("status", status.to_string())];
        self.recorder.register_counter(&Key::from_parts(REQUESTS, labels), &METADATA).increment(1);
        if let Some(took) = took {
            let key = Key::from_parts(SECONDS, vec![route]);
            self.recorder.register_histogram(&key, &METADATA).record(took.as_secs_f64());
        }
    }

    /// A command was answered, over the interface `rest` or `mcp`.
    pub(crate) fn commanded(&self, interface: &'static str, name: &str, outcome: &str) {
        let labels = vec![
            Label::from_static_parts("interface", interface),
            Label::new("name", name.to_string()),
            Label::new("outcome", outcome.to_string()),
        ];
        self.recorder.register_counter(&Key::from_parts(COMMANDS, labels), &METADATA).increment(1);
    }

    /// A call begins to wait.
    pub(crate) fn waiting(&self) -> Lasting {
        self.lasting(WAITING)
    }

    /// A connection was opened.
    pub(crate) fn connection(&self) -> Lasting {
        self.lasting(CONNECTIONS)
    }

    fn lasting(&self, name: &'static str) -> Lasting {
        let gauge = self.recorder.register_gauge(&Key::from_static_name(name), &METADATA);
        gauge.increment(1.0);
        Lasting(gauge)
    }

    /// Everything, as Prometheus reads it.
    pub(crate) fn render(&self, head: Option<u64>, keys: Option<usize>) -> String {
        // Both are far below 2^53, where a double stops being exact.
        #[expect(clippy::cast_precision_loss)]
        let numbers = [(HEAD, head.map(|head| head as f64)), (KEYS, keys.map(|keys| keys as f64))];
        for (name, number) in numbers {
            if let Some(number) = number {
                self.recorder.register_gauge(&Key::from_static_name(name), &METADATA).set(number);
            }
        }
        self.handle.render()
    }

    /// Sums up the latencies measured since the last time; to be called now and then, whether somebody looks or not.
    pub(crate) fn tidy(&self) {
        self.handle.run_upkeep();
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rendered_for_prometheus() {
        let metrics = Metrics::new();
        metrics.answered("/api/v1/orders", "GET", 200, Some(Duration::from_millis(3)));
        metrics.commanded("rest", "work.create", "ok");
        let waiting = metrics.waiting();
        let text = metrics.render(Some(12), None);
        for line in [
            "bailiwick_http_requests_total{route=\"/api/v1/orders\",method=\"GET\",status=\"200\"} 1",
            "bailiwick_http_request_duration_seconds_bucket{route=\"/api/v1/orders\",le=\"0.005\"} 1",
            "bailiwick_commands_total{interface=\"rest\",name=\"work.create\",outcome=\"ok\"} 1",
            "bailiwick_waiting_calls 1",
            "bailiwick_journal_head_sequence 12",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        drop(waiting);
        assert!(metrics.render(None, None).contains("bailiwick_waiting_calls 0"));
    }
}
