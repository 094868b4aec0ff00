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

fn small(bytes: &[u8]) -> RgbaImage {
    let made = avatar(bytes).unwrap();
    assert!(made.len() <= OUTPUT_BYTES_MAX);
    let picture = image::load_from_memory_with_format(&made, ImageFormat::WebP).unwrap().into_rgba8();
    assert_eq!(picture.dimensions(), (SIDE, SIDE));
    picture
}

/// The colours in the middle of the four quarters.
#[track_caller]
fn assert_quarters(picture: &RgbaImage, wanted: [[u8; 3]; 4], tolerance: u8) {
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
    for (orientation, wanted) in (1..=8).zip(upright) {
        let mut bytes = Vec::new();
        let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 95);
        encoder.set_exif_metadata(exif(orientation)).unwrap();
        encoder.write_image(picture.as_raw(), 96, 96, image::ExtendedColorType::Rgb8).unwrap();
        let made = avatar(&bytes).unwrap();
        assert!(!made.windows(4).any(|window| window == b"EXIF"), "metadata is dropped");
        assert_quarters(&small(&bytes), wanted, 12);
    }
}

#[test]
fn noise_still_fits() {
    let mut state = 1u32;
    let noise = RgbaImage::from_fn(256, 256, |_, _| {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        Rgba([next(), next(), next(), next()])
    });
    small(&file(&noise.into(), ImageFormat::Png));
}
