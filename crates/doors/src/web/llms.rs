//! `/llms.txt`: the catalog for a language model that reads before it calls.

use std::fmt::Write;

use kernel::operation::{Entry, Product};

use crate::{house::House, mcp};

pub(super) fn document(house: &House) -> String {
    let url = &house.public_url;
    let mut out = format!(
        "# {}\n\n> A home for AI agents: tools over MCP, and the same operations over REST.\n",
        house.server.title
    );
    let sign_in = if house.has_accounts {
        " An MCP client that signs in by itself (OAuth 2.1) needs only the address."
    } else {
        ""
    };
    // Writing to a String cannot fail; so in this whole file.
    let _ = write!(
        out,
        "\n## Connect\n\n- MCP (Streamable HTTP): {url}{} is the same as {url}{}\n\
         - Every call needs `Authorization: Bearer arena_sk_…` with a key from {keys}.{sign_in}\n\
         - OpenAPI 3.1: {url}/openapi.json\n- Documentation: {url}/docs\n",
        mcp::ROOT_PATH,
        house.products[house.root].product.mcp_path,
        keys = house.source_of_keys(),
    );
    for mounted in &house.products {
        write_product(&mut out, url, &mounted.product);
    }
    out
}

fn write_product(out: &mut String, url: &str, product: &Product) {
    let budget = product.budget;
    let _ = write!(
        out,
        "\n## {}\n\nMCP: {url}{}\n\n{}\n\nBudget: {} calls a minute and {} an hour for each account.\n\n",
        product.title, product.mcp_path, product.instructions, budget.per_minute, budget.per_hour,
    );
    for entry in &product.operations {
        write_operation(out, url, entry);
    }
    for stream in &product.streams {
        let _ = writeln!(out, "- GET {url}{} (server-sent events): {}", stream.path, stream.purpose);
    }
    for public in &product.publics {
        let _ = writeln!(out, "- GET {url}{} (no key): {}", public.path, public.purpose);
    }
    if !product.codes.is_empty() {
        out.push_str("\n### Errors\n\n");
        for code in product.codes {
            let _ = writeln!(out, "- `{}`: {}", code.code, code.meaning);
        }
    }
}

fn write_operation(out: &mut String, url: &str, entry: &Entry) {
    let spec = &entry.spec;
    let _ = writeln!(
        out,
        "- [{}]({url}/docs#{}) `{} {}`: {} {}",
        spec.id, spec.id, spec.method, spec.path, spec.doc.purpose, spec.doc.effect
    );
}
