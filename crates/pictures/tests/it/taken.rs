//! Pictures of every format come out upright, square and in their colours.

use std::io::Cursor;

use image::{DynamicImage, ImageEncoder, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use pictures::{OUTPUT_BYTES_MAX, SIDE, avatar};

/// Red and green above blue and yellow.
pub(crate) const QUARTERS: [[u8; 3]; 4] = [[200, 30, 40], [30, 180, 60], [40, 60, 200], [230, 210, 40]];

/// The picture of [`QUARTERS`].
pub(crate) fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        Rgb(QUARTERS[usize::from(x >= width / 2) + 2 * usize::from(y >= height / 2)])
    })
}

pub(crate) fn file(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    picture.write_to(&mut out, format).unwrap();
    out.into_inner()
}

pub(crate) fn small(bytes: &[u8]) -> RgbaImage {
    let made = avatar(bytes).unwrap();
    assert!(made.len() <= OUTPUT_BYTES_MAX);
    let picture = image::load_from_memory_with_format(&made, ImageFormat::WebP).unwrap().into_rgba8();
    assert_eq!(picture.dimensions(), (SIDE, SIDE));
    picture
}

/// The colours in the middle of the four quarters.
#[track_caller]
pub(crate) fn assert_quarters(picture: &RgbaImage, wanted: [[u8; 3]; 4], tolerance: u8) {
    for (at, (x, y)) in [(64, 64), (192, 64), (64, 192), (192, 192)].into_iter().enumerate() {
        let found = picture.get_pixel(x, y).0;
        for channel in 0..3 {
            let off = found[channel].abs_diff(wanted[at][channel]);
            assert!(off <= tolerance, "quarter {at}: {found:?}, not {:?}", wanted[at]);
        }
        assert_eq!(found[3], 255);
    }
}

#[test]
fn every_format_keeps_its_colours() {
    let picture: DynamicImage = quarters(96, 64).into();
    for (format, tolerance) in [(ImageFormat::Png, 0), (ImageFormat::WebP, 0), (ImageFormat::Jpeg, 6)] {
        assert_quarters(&small(&file(&picture, format)), QUARTERS, tolerance);
    }
    for (name, bytes) in [
        ("4:2:0", &include_bytes!("data/quad-420.avif")[..]),
        ("4:2:2", include_bytes!("data/quad-422.avif")),
        ("4:4:4, 10 bits", include_bytes!("data/quad-444-10.avif")),
        ("4:2:0, 12 bits, odd sides", include_bytes!("data/quad-420-12-odd.avif")),
        ("planes of red, green and blue", include_bytes!("data/quad-rgb.avif")),
        ("green and orange", include_bytes!("data/quad-ycgco.avif")),
        ("BT.709", include_bytes!("data/quad-709.avif")),
        ("narrow range", include_bytes!("data/quad-narrow.avif")),
        ("a range that only the container tells", include_bytes!("data/quad-told.avif")),
    ] {
        println!("{name}");
        assert_quarters(&small(bytes), QUARTERS, 12);
    }
}

#[test]
fn transparency_grey_and_depth_are_kept() {
    let alpha = small(include_bytes!("data/alpha.avif"));
    assert!(alpha.get_pixel(40, 128).0[3] > 250 && alpha.get_pixel(220, 128).0[3] < 5);
    let grey = small(include_bytes!("data/grey.avif"));
    let [top, bottom] = [20, 236].map(|y| grey.get_pixel(128, y).0);
    assert!(top[0] < 40 && bottom[0] > 215 && top[0] == top[1] && top[1] == top[2], "{top:?} {bottom:?}");
    let half: DynamicImage = RgbaImage::from_pixel(10, 10, Rgba([10, 20, 30, 128])).into();
    for deep in [half.clone(), DynamicImage::ImageRgba16(half.to_rgba16())] {
        assert_eq!(small(&file(&deep, ImageFormat::Png)).get_pixel(5, 5).0, [10, 20, 30, 128]);
    }
    for shallow in [DynamicImage::ImageLuma8(half.to_luma8()), DynamicImage::ImageLuma16(half.to_luma16())] {
        let pixel = small(&file(&shallow, ImageFormat::Png)).get_pixel(5, 5).0;
        assert!(pixel[0] == pixel[1] && pixel[3] == 255, "{pixel:?}");
    }
}

#[test]
fn a_picture_whose_colours_count_alpha_is_shown_as_it_is_seen() {
    let [red, green, blue, alpha] = small(include_bytes!("data/premultiplied.avif")).get_pixel(128, 128).0;
    assert_eq!(alpha, 128);
    for (found, wanted) in [(red, 200_u8), (green, 100), (blue, 50)] {
        assert!(found.abs_diff(wanted) <= 3, "{red} {green} {blue}");
    }
}

/// What is clear has a colour, too, in most files; at an edge it must not mix with what is seen.
#[test]
fn clear_pixels_do_not_colour_an_edge() {
    let picture =
        RgbaImage::from_fn(
            1000,
            1000,
            |x, _| {
                if x < 501 { Rgba([0, 0, 0, 0]) } else { Rgba([250, 200, 150, 255]) }
            },
        );
    for format in [ImageFormat::Png, ImageFormat::WebP] {
        let shown = small(&file(&picture.clone().into(), format));
        let edge: Vec<_> = (0..SIDE).map(|x| shown.get_pixel(x, 9).0).filter(|pixel| pixel[3] > 0).collect();
        assert!(edge.iter().any(|pixel| pixel[3] < 255), "the edge is soft");
        for pixel in edge {
            let off = (0..3).map(|channel| pixel[channel].abs_diff([250, 200, 150][channel])).max();
            assert!(off <= Some(1), "{pixel:?}");
        }
    }
}

#[test]
fn the_middle_is_cut_out() {
    // Stripes at the ends, which the square leaves out.
    let wide = RgbImage::from_fn(300, 100, |x, _| {
        if (100..200).contains(&x) { Rgb([0, 200, 0]) } else { Rgb([200, 0, 0]) }
    });
    let tall =
        RgbImage::from_fn(
            1,
            5000,
            |_, y| if y == 2500 || y == 2499 { Rgb([0, 200, 0]) } else { Rgb([200, 0, 0]) },
        );
    for picture in [wide, tall] {
        let shown = small(&file(&picture.into(), ImageFormat::Png));
        for (x, y) in [(2, 2), (253, 253), (128, 128)] {
            assert_eq!(shown.get_pixel(x, y).0, [0, 200, 0, 255]);
        }
    }
    small(&file(&RgbImage::from_pixel(1, 1, Rgb([1, 2, 3])).into(), ImageFormat::Png));
}

/// An EXIF block with nothing but an orientation.
fn exif(orientation: u8) -> Vec<u8> {
    let mut block = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01".to_vec();
    block.extend([0, orientation, 0, 0, 0, 0, 0, 0]);
    block
}

#[test]
fn a_camera_that_was_turned_is_turned_back() {
    let [a, b, c, d] = QUARTERS;
    // How the four quarters look after each of the eight orientations is undone.
    let upright = [
        [a, b, c, d],
        [b, a, d, c],
        [d, c, b, a],
        [c, d, a, b],
        [a, c, b, d],
        [c, a, d, b],
        [d, b, c, a],
        [b, d, a, c],
    ];
    let picture = quarters(96, 96);
    let colour = image::ExtendedColorType::Rgb8;
    for (orientation, wanted) in (1..=8).zip(upright) {
        let mut files = [Vec::new(), Vec::new(), Vec::new()];
        let [jpeg, png, webp] = &mut files;
        let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(jpeg, 95);
        encoder.set_exif_metadata(exif(orientation)).unwrap();
        encoder.write_image(picture.as_raw(), 96, 96, colour).unwrap();
        let mut encoder = image::codecs::png::PngEncoder::new(png);
        encoder.set_exif_metadata(exif(orientation)).unwrap();
        encoder.write_image(picture.as_raw(), 96, 96, colour).unwrap();
        let mut encoder = image::codecs::webp::WebPEncoder::new_lossless(webp);
        encoder.set_exif_metadata(exif(orientation)).unwrap();
        encoder.write_image(picture.as_raw(), 96, 96, colour).unwrap();
        for bytes in files {
            let made = avatar(&bytes).unwrap();
            assert!(!made.windows(4).any(|window| window == b"EXIF"), "metadata is dropped");
            assert_quarters(&small(&bytes), wanted, 12);
        }
    }
    for (bytes, wanted) in [
        // A quarter against the clock, top and bottom changed, and one after the other.
        (&include_bytes!("data/turned.avif")[..], [b, d, a, c]),
        (include_bytes!("data/mirrored.avif"), [c, d, a, b]),
        (include_bytes!("data/turned-mirrored.avif"), [a, c, b, d]),
    ] {
        assert_quarters(&small(bytes), wanted, 12);
    }
}

/// Reproducible bytes without any pattern.
fn noise() -> impl FnMut() -> u8 {
    let mut state = 1u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    }
}

#[test]
fn noise_still_fits() {
    let mut next = noise();
    let opaque = RgbImage::from_fn(256, 256, |_, _| Rgb([next(), next(), next()]));
    assert!(small(&file(&opaque.into(), ImageFormat::Png)).pixels().all(|pixel| pixel.0[3] == 255));
    // Four channels of noise are more than the limit, so that shades are lost; alpha is not.
    let clear = RgbaImage::from_fn(256, 256, |_, _| Rgba([next(), next(), next(), next() | 1]));
    let shown = small(&file(&clear.clone().into(), ImageFormat::Png));
    for (shown, given) in shown.pixels().zip(clear.pixels()) {
        assert_eq!(shown.0[3], given.0[3]);
        assert!((0..3).all(|channel| shown.0[channel].abs_diff(given.0[channel]) <= 32));
    }
}
