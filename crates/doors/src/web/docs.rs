//! `/docs`: the whole catalog on one page.

use std::fmt::Write;

use kernel::operation::{Entry, Page, Product};
use serde_json::Value;

use super::{connect, html::escape};
use crate::{house::House, status};

pub(super) fn content(house: &House) -> String {
    let mut out = format!("<h1>{} documentation</h1>\n<nav>\n<ul>\n", escape(&house.server.title));
    // Writing to a String cannot fail; so in this whole file.
    for mounted in &house.products {
        let product = &mounted.product;
        let _ = write!(out, "<li><a href=\"#{0}\">{1}</a>: ", escape(product.name), escape(product.title));
        let links: Vec<_> = product
            .operations
            .iter()
            .map(|e| format!("<a href=\"#{0}\">{0}</a>", escape(e.spec.id)))
            .collect();
        let _ = writeln!(out, "{}</li>", links.join(", "));
    }
    let _ = write!(
        out,
        "</ul>\n</nav>\n<h2 id=\"connect\">Connect</h2>\n<p>Choose your client, and put your own key in the place of <code>{}</code>.</p>\n\
         {}\n<p>Over REST send the same key as <code>Authorization: Bearer …</code> or <code>x-arena-key</code>, \
         and the fields as a JSON object. A request with <code>Idempotency-Key</code> can be repeated safely: \
         the first answer is given again.</p>\n",
        connect::KEY_PLACE,
        connect::tabs(house, Some(connect::KEY_PLACE)).into_string(),
    );
    for mounted in &house.products {
        write_product(&mut out, house, &mounted.product);
    }
    out
}

pub(super) fn page(house: &House) -> Page {
    Page {
        title: "Documentation".to_owned(),
        description: "Every operation with its input, its answer and its errors.".to_owned(),
        main: content(house),
    }
}

fn write_product(out: &mut String, house: &House, product: &Product) {
    let _ = write!(
        out,
        "<section>\n<h2 id=\"{}\">{}</h2>\n<p class=\"rules\">{}</p>\n<p>MCP: <code>{}{}</code>. Budget: {} calls a minute, {} an hour.</p>\n",
        escape(product.name),
        escape(product.title),
        escape(product.instructions),
        escape(&house.public_url),
        escape(product.mcp_path),
        product.budget.per_minute,
        product.budget.per_hour,
    );
    for entry in &product.operations {
        write_operation(out, entry);
    }
    write_streams(out, product);
    write_publics(out, product);
    write_codes(out, product);
    out.push_str("</section>\n");
}

fn write_operation(out: &mut String, entry: &Entry) {
    let (spec, doc) = (&entry.spec, &entry.spec.doc);
    let _ = write!(
        out,
        "<article>\n<h3 id=\"{0}\">{0} <span>{1}</span></h3>\n<p><code>{2} {3}</code> <span class=\"scope\">scope {4}</span></p>\n<p>{5} {6}</p>\n<dl>\n",
        escape(spec.id),
        escape(spec.title),
        escape(spec.method),
        escape(spec.path),
        escape(spec.scope),
        escape(doc.purpose),
        escape(doc.effect),
    );
    for (term, text) in [("Input", doc.parameters), ("Answer", doc.result), ("Repeats", doc.idempotency)] {
        if !text.is_empty() {
            let _ = writeln!(out, "<dt>{term}</dt><dd>{}</dd>", escape(text));
        }
    }
    if !doc.errors.is_empty() {
        let codes: Vec<_> = doc.errors.iter().map(|code| format!("<code>{}</code>", escape(code))).collect();
        let _ = writeln!(out, "<dt>Errors</dt><dd>{}</dd>", codes.join(" "));
    }
    out.push_str("</dl>\n");
    for (title, text) in [
        ("Example request", pretty(doc.example_request)),
        ("Example answer", pretty(doc.example_response)),
        ("Input schema", serde_json::to_string_pretty(&*entry.input_schema).unwrap_or_default()),
    ] {
        let _ = writeln!(out, "<details><summary>{title}</summary><pre>{}</pre></details>", escape(&text));
    }
    out.push_str("</article>\n");
}

fn write_streams(out: &mut String, product: &Product) {
    for stream in &product.streams {
        let _ = write!(
            out,
            "<article>\n<h3 id=\"{0}\">{0} <span>Server-sent events</span></h3>\n<p><code>GET {1}</code> <span class=\"scope\">scope {2}</span></p>\n\
             <p>{3} A stream that breaks off goes on after the event whose id comes back as <code>Last-Event-ID</code>.</p>\n<dl>\n",
            escape(stream.id),
            escape(stream.path),
            escape(stream.scope),
            escape(stream.purpose),
        );
        for (kind, tells) in stream.kinds {
            let _ = writeln!(out, "<dt><code>{}</code></dt><dd>{}</dd>", escape(kind), escape(tells));
        }
        out.push_str("</dl>\n</article>\n");
    }
}

fn write_publics(out: &mut String, product: &Product) {
    if product.publics.is_empty() {
        return;
    }
    out.push_str("<h3>Without a key</h3>\n<dl>\n");
    for public in &product.publics {
        let _ = writeln!(
            out,
            "<dt><code>GET {}</code></dt><dd>{}</dd>",
            escape(public.path),
            escape(public.purpose)
        );
    }
    out.push_str("</dl>\n");
}

fn write_codes(out: &mut String, product: &Product) {
    out.push_str("<h3>Errors</h3>\n<dl>\n");
    for code in product.codes {
        let _ = writeln!(
            out,
            "<dt><code>{}</code> {}</dt><dd>{}</dd>",
            escape(code.code),
            status::of(code.kind).as_u16(),
            escape(code.meaning)
        );
    }
    out.push_str("</dl>\n");
}

/// The example, indented; as it stands when it is not JSON.
fn pretty(text: &str) -> String {
    serde_json::from_str::<Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| text.to_owned())
}
