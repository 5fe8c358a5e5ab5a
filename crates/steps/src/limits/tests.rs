use std::time::Duration;

use super::*;
use crate::outgoing::Service;

fn origin() -> Origin {
    Origin {
        service: Service::Web,
        tls: true,
        host: "a.example".into(),
        port: 443,
    }
}

fn limits(default: DestinationLimits) -> Limits {
    Limits::new(LimitSettings {
        default,
        hosts: BTreeMap::new(),
    })
}

fn far() -> Instant {
    Instant::now() + Duration::from_hours(1)
}

async fn enter(limits: &Limits) -> Result<Pass, Held> {
    limits.enter(&origin(), far()).await
}

fn state(limits: &Limits) -> DestinationState {
    limits.states().remove(0)
}

#[tokio::test(start_paused = true)]
async fn waiting_is_bounded_in_count_and_time() {
    let limits = limits(DestinationLimits {
        concurrency: 1,
        queue: 1,
        wait: Millis(500),
        ..DestinationLimits::default()
    });
    let first = enter(&limits).await.ok();
    assert!(first.is_some());
    let begun = Instant::now();
    let (second, third) = tokio::join!(enter(&limits), enter(&limits));
    let messages = [second, third].map(|it| it.err().expect("held").to_string());
    assert_eq!(
        messages,
        [
            "no turn at https://a.example within 500ms",
            "1 requests already wait for https://a.example"
        ]
    );
    assert_eq!(begun.elapsed(), Duration::from_millis(500));
    drop(first);
    assert!(enter(&limits).await.is_ok());
    assert_eq!((state(&limits).in_flight, state(&limits).waiting), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_is_given_back_goes_to_who_waits() {
    let limits = limits(DestinationLimits {
        concurrency: 1,
        ..DestinationLimits::default()
    });
    let first = enter(&limits).await.ok();
    let (second, ()) = tokio::join!(enter(&limits), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((state(&limits).in_flight, state(&limits).waiting), (1, 1));
        drop(first);
    });
    assert!(second.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_callers_own_time_counts_too() {
    let limits = limits(DestinationLimits {
        concurrency: 1,
        ..DestinationLimits::default()
    });
    let _first = enter(&limits).await.ok();
    let by = Instant::now() + Duration::from_millis(20);
    assert!(limits.enter(&origin(), by).await.is_err());
    assert_eq!(Instant::now(), by);
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_kept_after_its_burst() {
    let limits = limits(DestinationLimits {
        rate: Some(Rate {
            requests: 10,
            per: Millis::seconds(1),
            burst: 3,
        }),
        concurrency: 1,
        ..DestinationLimits::default()
    });
    let begun = Instant::now();
    let mut times = Vec::new();
    for _ in 0..6 {
        drop(enter(&limits).await.ok());
        times.push(begun.elapsed().as_millis());
    }
    assert_eq!(times, [0, 0, 0, 100, 200, 300]);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let begun = Instant::now();
    for expected in [0, 0, 0, 100] {
        drop(enter(&limits).await.ok());
        assert_eq!(begun.elapsed().as_millis(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_that_would_take_too_long_says_when() {
    let limits = limits(DestinationLimits {
        rate: Some(Rate {
            requests: 1,
            per: Millis::seconds(60),
            burst: 1,
        }),
        wait: Millis::seconds(5),
        ..DestinationLimits::default()
    });
    drop(enter(&limits).await.ok());
    let held = enter(&limits).await.err().expect("held");
    assert_eq!(held.retry_after(), Millis::seconds(60));
    // Whoever was turned away took no turn.
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(enter(&limits).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_fails_is_left_alone_and_tried_again() {
    let limits = limits(DestinationLimits {
        breaker: Some(BreakerSettings {
            failures: 3,
            pause: Millis::seconds(10),
        }),
        ..DestinationLimits::default()
    });
    let report = async |healthy: bool| {
        let pass = enter(&limits).await.unwrap_or_else(|held| panic!("{held}"));
        pass.report(Some(healthy));
    };
    for healthy in [false, false, true, false, false] {
        report(healthy).await;
    }
    assert_eq!(state(&limits).breaker, BreakerState::Closed);
    report(false).await;
    assert_eq!(
        state(&limits).breaker,
        BreakerState::Open(Millis::seconds(10))
    );
    let held = enter(&limits).await.err().expect("held");
    assert_eq!(
        held.to_string(),
        "https://a.example is left alone for 10s after 3 failures in a row"
    );
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(state(&limits).breaker, BreakerState::HalfOpen);
    // One tries; the others still wait.
    let probe = enter(&limits).await.expect("one tries");
    assert!(enter(&limits).await.is_err());
    probe.report(Some(false));
    assert!(enter(&limits).await.is_err());
    tokio::time::sleep(Duration::from_secs(10)).await;
    // One that goes away without a word lets the next one try.
    drop(enter(&limits).await.expect("one tries"));
    report(true).await;
    assert_eq!(state(&limits).breaker, BreakerState::Closed);
    report(true).await;
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_turned_away_once_the_breaker_opens() {
    let limits = limits(DestinationLimits {
        concurrency: 1,
        breaker: Some(BreakerSettings {
            failures: 1,
            pause: Millis::seconds(10),
        }),
        ..DestinationLimits::default()
    });
    let first = enter(&limits).await.expect("a slot");
    let (second, ()) = tokio::join!(enter(&limits), async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        first.report(Some(false));
    });
    assert!(matches!(second.err(), Some(Held::Open { .. })));
}

#[tokio::test]
async fn named_hosts_have_limits_of_their_own() {
    let own = |concurrency| DestinationLimits {
        concurrency,
        ..DestinationLimits::default()
    };
    let settings = LimitSettings {
        default: own(1),
        hosts: BTreeMap::from([
            ("a.example".to_owned(), own(2)),
            ("a.example:8443".to_owned(), own(3)),
        ]),
    };
    let at = |host: &str, port| Origin {
        host: host.into(),
        port,
        ..origin()
    };
    for (host, port, concurrency) in [
        ("a.example", 443, 2),
        ("a.example", 8443, 3),
        ("b.example", 443, 1),
    ] {
        assert_eq!(settings.of(&at(host, port)).concurrency, concurrency);
    }
}

#[tokio::test]
async fn destinations_without_work_make_room() {
    let limits = limits(DestinationLimits::default());
    let busy = enter(&limits).await.ok();
    for n in 0..=MOST_DESTINATIONS {
        let origin = Origin {
            host: format!("{n}.example").into(),
            ..origin()
        };
        drop(limits.enter(&origin, far()).await.ok());
    }
    let states = limits.states();
    assert!(states.len() <= MOST_DESTINATIONS);
    let kept = states.iter().find(|it| it.origin == "https://a.example");
    assert_eq!(kept.map(|it| it.in_flight), Some(1));
    drop(busy);
}
