use super::*;

const EXAMPLES: [&str; 4] = [
    include_str!("../../../../examples/invoice-on-payment.yaml"),
    include_str!("../../../../examples/order-shipped.yaml"),
    include_str!("../../../../examples/renewal-reminders.yaml"),
    include_str!("../../../../examples/refund-with-approval.yaml"),
];

fn flow(source: &str) -> Flow {
    let reading = crate::read(source);
    reading
        .flow
        .unwrap_or_else(|| panic!("{:#?}", reading.diagnostics))
}

#[test]
fn nothing_overlaps_and_nothing_leaves_the_picture() {
    for source in EXAMPLES {
        let picture = layout::picture(&flow(source));
        let cards: Vec<[f64; 4]> = picture
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Card(_, x, y, w, h) => Some([*x, *y, *w, *h]),
                _ => None,
            })
            .collect();
        for (index, [x, y, w, h]) in cards.iter().enumerate() {
            assert!(*x >= 0.0 && *y >= 0.0 && x + w <= picture.width && y + h <= picture.height);
            for [a, b, c, d] in &cards[index + 1..] {
                let apart = x + w <= *a || a + c <= *x || y + h <= *b || b + d <= *y;
                assert!(apart, "{source}");
            }
        }
    }
}

#[test]
fn every_step_is_in_the_picture_and_in_the_text() {
    for source in EXAMPLES {
        let flow = flow(source);
        let (svg, text) = (svg(&flow), text(&flow));
        for step in &flow.steps {
            let id = &step.id.it;
            assert!(svg.contains(&format!(r#"data-step="{id}""#)), "{id}");
            assert!(text.contains(&format!("{id}  ")), "{id}");
        }
    }
}

#[test]
fn names_cannot_break_out_of_the_picture() {
    let source = "name: f\non: manual\nkey: k/${{ event.id }}\nsteps:\n  - id: a\n    if: event.x == \"</text><script>\"\n    http: {get: 'https://x/</svg>'}\n";
    let svg = svg(&flow(source));
    assert!(
        !svg.contains("<script") && svg.matches("</svg>").count() == 1,
        "{svg}"
    );
}

#[test]
fn the_text_is_a_tree_that_can_be_read() {
    insta::assert_snapshot!(text(&flow(EXAMPLES[0])));
}

#[test]
fn a_gate_looks_like_one() {
    let flow = flow(EXAMPLES[3]);
    insta::assert_snapshot!(text(&flow));
    let svg = svg(&flow);
    assert!(
        svg.contains(r#"<g class="gate" data-step="agreed">"#),
        "{svg}"
    );
}

#[test]
fn an_items_steps_show_the_items_key() {
    let text = text(&flow(EXAMPLES[2]));
    let key = "once per ${{ sub.id }}/${{ sub.ends_on }}/mail";
    assert!(text.contains(key), "{text}");
}

/// `semel graph examples/invoice-on-payment.yaml --svg docs/flow.svg` makes it anew.
#[test]
fn the_picture_in_the_readme_is_the_one_that_is_drawn() {
    let shown = include_str!("../../../../docs/flow.svg");
    assert_eq!(svg(&flow(EXAMPLES[0])), shown);
}
