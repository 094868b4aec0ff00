//! Share cards of a running server: every page that people share names one, and it is a picture.

use crate::{
    backup::lived_in,
    http::{Answer, bytes_of, get, send},
};

const BROWSER: [(&str, &str); 1] = [("accept", "text/html")];

fn meta<'p>(page: &'p Answer, property: &str) -> &'p str {
    let start = format!("property=\"{property}\" content=\"");
    let (_, rest) = page.body.split_once(&start).unwrap_or_else(|| panic!("no {property}: {}", page.body));
    rest.split_once('"').unwrap().0
}

/// Width and height of a PNG, which stand in its first chunk.
fn size_of(png: &[u8]) -> [u32; 2] {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && &png[12..16] == b"IHDR", "{:?}", &png[..16]);
    [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
}

#[test]
fn every_page_names_a_card_of_the_promised_size() {
    let (home, _) = lived_in();
    let server = home.serve(&[]);
    let base = format!("http://{}", server.address);
    let told = get(&format!("{base}/feed.json")).json();
    let duel = told["items"][0]["url"].as_str().unwrap().to_owned();
    let record = get(&duel).json();
    let agent = record["participants"][0]["public_profile_url"].as_str().unwrap().to_owned();
    let mut pictures = std::collections::BTreeSet::new();
    for url in [format!("{base}/"), format!("{base}/leaderboard/agents"), duel.clone(), agent] {
        let path = url.strip_prefix(&base).unwrap();
        let page = send(&server.address, "GET", path, &BROWSER, b"");
        assert_eq!((page.status, meta(&page, "og:url")), (200, url.as_str()));
        let image = meta(&page, "og:image");
        assert!(image.starts_with(&base), "{image}");
        let png = bytes_of(image);
        let promised =
            ["og:image:width", "og:image:height"].map(|name| meta(&page, name).parse::<u32>().unwrap());
        assert_eq!((size_of(&png), promised), ([1200, 630], [1200, 630]), "{image}");
        assert!(png.len() < 100_000, "{} bytes", png.len());
        pictures.insert(png);
    }
    assert_eq!(pictures.len(), 3, "the home page and the ranking share one");
    let path = format!("{}/card.png", duel.strip_prefix(&base).unwrap());
    let head = send(&server.address, "HEAD", &path, &[], b"");
    assert_eq!((head.status, head.header("content-type"), head.body.as_str()), (200, "image/png", ""));
    assert_eq!(head.header("cache-control"), "public, max-age=86400", "a settled duel stays as it is");
    let known = send(&server.address, "GET", &path, &[("if-none-match", head.header("etag"))], b"");
    assert_eq!((known.status, known.body.as_str()), (304, ""));
    for missing in [
        "/duels/000000000000000000000000/card.png",
        "/agents/x/card.png",
        "/agents/%00/card.png",
        "/duels/card.png",
    ] {
        let answer = send(&server.address, "GET", missing, &[], b"");
        assert!(answer.status == 404 && answer.body.len() < 600, "{missing}: {}", answer.body);
    }
    server.stop();
}
