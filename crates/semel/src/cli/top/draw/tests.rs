use serde_json::json;

use super::*;

fn screen() -> Screen {
    let events: Vec<u64> = (0..61).map(|n| n % 9).collect();
    let zeros = vec![0_u64; 61];
    let overview = json!({
        "now": "2026-01-01T12:00:30.000Z",
        "states": {"running": 2, "parked": 1, "done": 843},
        "inbox": 1,
        "totals": {"events": 1204, "duplicates": 361, "runs": 843, "done": 840, "failed": 3, "effects": 1_686_000, "blocked": 0},
        "series": {"events": events, "duplicates": events, "effects": events, "blocked": zeros, "failed": zeros},
        "destinations": [
            {"name": "billing.example:443", "calls": 12_000, "failed": 20, "unknown": 1, "p50_ms": 35, "p95_ms": 30_000, "breaker": "half-open"},
            {"name": "a-name-that-is-much-longer-than-there-is-room.example:443", "calls": 0, "failed": 0, "unknown": 0, "p50_ms": null, "p95_ms": null, "breaker": "closed"},
        ],
        "flows": [{"flow": "hello", "runs": 3, "failed": 0, "duplicates": 0}, {"flow": "order", "runs": 840, "failed": 3, "duplicates": 361}],
    });
    let mut screen = Screen {
        overview: serde_json::from_value(overview).unwrap(),
        ..Screen::default()
    };
    for (n, state, why) in [
        (1, "done", "done"),
        (
            3,
            "parked",
            "charge: may or may not have happened: no answer",
        ),
        (2, "running", "began"),
    ] {
        let row = json!({
            "run": format!("run_{n:032}"), "flow": "order", "key": format!("order/104{n}\u{1b}[31m"),
            "state": state, "why": why, "changed_at": "2026-01-01T11:58:30.000Z",
        });
        screen.changed(serde_json::from_value(row).unwrap(), 50);
    }
    screen
}

#[test]
fn a_screen_fits_eighty_columns() {
    let lines = screen().lines(Size::PLAIN, Paint::off());
    insta::assert_snapshot!(lines.join("\n"));
    for columns in [64, 80, 120] {
        let size = Size { columns, rows: 40 };
        for line in screen().lines(size, Paint::off()) {
            // The line about what stands is as long as it must be.
            let fits = width(&line) <= columns || line.starts_with("under way");
            assert!(fits, "{columns}: {line:?}");
        }
    }
}

#[test]
fn a_run_that_changed_takes_its_own_place() {
    let mut screen = screen();
    let row = json!({
        "run": format!("run_{:032}", 2), "flow": "order", "key": "k", "state": "done", "why": "done",
        "changed_at": "2026-01-01T12:00:00.000Z",
    });
    screen.changed(serde_json::from_value(row).unwrap(), 2);
    let states: Vec<&str> = screen.runs.iter().map(|row| row.state.as_str()).collect();
    assert_eq!(states, ["parked", "done"]);
}
