//! Bodies are made the same way each time, and frames survive being taken apart.

use callgate_dialect::Dialect;

use super::body::{Body, RequestMode};
use super::sample::BodySample;
use super::seeds::Seeds;
use crate::made::{self, Called, Said};

#[test]
fn the_same_number_makes_the_same_body() {
    let seeds = Seeds::load();
    for dialect in Dialect::ALL {
        for mode in RequestMode::ALL {
            let make = |number| {
                let sample = BodySample::make(&seeds, dialect, mode, number);
                let gated = sample.gated(&sample.policies());
                (sample.body.bytes(), sample.policy, gated.out)
            };
            assert_eq!(make(7), make(7));
            let others = (0..20).map(make).collect::<std::collections::BTreeSet<_>>();
            assert!(others.len() > 15, "{dialect:?} {mode:?}: {} different bodies", others.len());
        }
    }
}

#[test]
fn a_stream_is_written_as_it_was_read() {
    let calls = [Called { id: "a", name: "run", arguments: r#"{"command":"ls"}"# }];
    let said = Said { text: "I look at it.", calls: &calls };
    for dialect in Dialect::ALL {
        let bytes = made::stream(dialect, &said, 5);
        let body = Body::parse(dialect, RequestMode::Stream, &bytes).unwrap();
        assert!(body.frames.len() > 2, "{dialect:?}");
        assert_eq!(String::from_utf8_lossy(&body.bytes()), String::from_utf8_lossy(&bytes));
    }
}
