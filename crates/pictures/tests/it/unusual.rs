//! Files as other programs write them: palettes, one bit, interlaced, progressive, inks, and sides of one pixel.
//! They were made by programs other than the ones under test.

use crate::taken::{QUARTERS, assert_quarters, small};

#[test]
fn palettes_and_interlaced_files_keep_their_colours() {
    for (name, bytes) in [
        ("palette", &include_bytes!("data/palette.png")[..]),
        ("interlaced palette", include_bytes!("data/palette-interlaced.png")),
        ("interlaced, 16 bits", include_bytes!("data/sixteen-interlaced.png")),
    ] {
        println!("{name}");
        assert_quarters(&small(bytes), QUARTERS, 0);
    }
    let clear = small(include_bytes!("data/palette-clear.png"));
    assert_eq!(clear.get_pixel(40, 128).0, [200, 30, 40, 255]);
    assert_eq!(clear.get_pixel(220, 128).0[3], 0);
    let halves = small(include_bytes!("data/one-bit.png"));
    assert_eq!(halves.get_pixel(128, 20).0, [255; 4]);
    assert_eq!(halves.get_pixel(128, 236).0, [0, 0, 0, 255]);
}

#[test]
fn lossy_files_keep_their_colours() {
    for (name, bytes) in [
        ("progressive", &include_bytes!("data/progressive.jpg")[..]),
        ("halved colours", include_bytes!("data/subsampled.jpg")),
        ("lossy WebP", include_bytes!("data/lossy.webp")),
    ] {
        println!("{name}");
        assert_quarters(&small(bytes), QUARTERS, 6);
    }
    let clear = small(include_bytes!("data/lossy-clear.webp"));
    let found = clear.get_pixel(64, 64).0;
    for (found, wanted) in found.into_iter().zip([200_u8, 30, 40, 128]) {
        assert!(found.abs_diff(wanted) <= 6, "{found} is not {wanted}");
    }
}

#[test]
fn inks_and_greys_are_shown() {
    // Inks have no one true colour on a screen; this is near enough to tell them.
    assert_quarters(&small(include_bytes!("data/cmyk.jpg")), QUARTERS, 20);
    let grey = small(include_bytes!("data/grey.jpg"));
    let [red, green, blue, alpha] = grey.get_pixel(192, 64).0;
    assert!(red == green && green == blue && red.abs_diff(139) < 8 && alpha == 255, "{red} {green} {blue}");
}

#[test]
fn one_pixel_and_one_line_are_pictures() {
    let [red, green, blue, alpha] = small(include_bytes!("data/one-pixel.avif")).get_pixel(128, 128).0;
    assert!(red > 240 && green < 20 && blue < 20 && alpha == 255, "{red} {green} {blue}");
    // A line from red to blue; its middle is one pixel of both.
    let [red, _, blue, _] = small(include_bytes!("data/line.avif")).get_pixel(128, 128).0;
    assert!(red.abs_diff(128) < 24 && blue.abs_diff(128) < 24, "{red} {blue}");
}
