//! The binding to the AV1 decoder, whose interface is that of a C library: the one place in this crate
//! with unsafe code. Out comes a frame that can be read safely and frees what it holds.
#![expect(unsafe_code, reason = "the decoder has no safe interface")]

use std::{mem::MaybeUninit, ptr::NonNull, slice};

use rav1d::{
    include::dav1d::{
        data::Dav1dData,
        dav1d::{Dav1dContext, Dav1dSettings},
        picture::Dav1dPicture,
    },
    src::lib::{
        dav1d_close, dav1d_data_create, dav1d_data_unref, dav1d_default_settings, dav1d_get_picture,
        dav1d_open, dav1d_picture_unref, dav1d_send_data,
    },
};

/// The decoder could not make a frame of the data.
#[derive(Debug)]
pub(crate) struct Undecodable;

/// How the colour planes relate to the light plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Grey,
    /// Halved in both directions, in one, and not at all.
    Yuv420,
    Yuv422,
    Yuv444,
}

/// Samples of a row, of 8 bits or of more.
pub(crate) enum Row<'a> {
    Bytes(&'a [u8]),
    Pairs(&'a [u16]),
}

/// A decoded frame.
pub(crate) struct Frame {
    picture: Dav1dPicture,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Bits of a sample: 8, 10 or 12.
    pub(crate) bits: u32,
    pub(crate) layout: Layout,
    /// The number of the matrix coefficients, of ITU-T H.273.
    pub(crate) matrix: u16,
    pub(crate) is_full_range: bool,
}

struct Decoder(Option<Dav1dContext>);

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the context came from `dav1d_open` and is closed exactly once.
        unsafe { dav1d_close(NonNull::new(&raw mut self.0)) }
    }
}

/// Decodes the first frame of an AV1 stream of at most `pixels_max` pixels.
pub(crate) fn decode(stream: &[u8], pixels_max: u32) -> Result<Frame, Undecodable> {
    let mut settings = MaybeUninit::<Dav1dSettings>::zeroed();
    let settings_at = NonNull::new(settings.as_mut_ptr()).ok_or(Undecodable)?;
    // SAFETY: the pointer is to zeroed memory of the right size, which the call fills.
    let mut settings = unsafe {
        dav1d_default_settings(settings_at);
        settings.assume_init()
    };
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.frame_size_limit = pixels_max;
    let mut decoder = Decoder(None);
    // SAFETY: both pointers are to values that live through the call.
    let opened = unsafe { dav1d_open(NonNull::new(&raw mut decoder.0), NonNull::new(&raw mut settings)) };
    if opened.0 != 0 {
        return Err(Undecodable);
    }
    let mut data = Dav1dData::default();
    // SAFETY: the call allocates `len` bytes and puts them into `data`; exactly that many are copied, and
    // the two ranges cannot overlap because one is new.
    unsafe {
        let buffer = dav1d_data_create(NonNull::new(&raw mut data), stream.len());
        if buffer.is_null() {
            return Err(Undecodable);
        }
        std::ptr::copy_nonoverlapping(stream.as_ptr(), buffer, stream.len());
    }
    // SAFETY: context and data are valid; what the decoder did not take is released here.
    let sent = unsafe {
        let sent = dav1d_send_data(decoder.0, NonNull::new(&raw mut data));
        dav1d_data_unref(NonNull::new(&raw mut data));
        sent
    };
    if sent.0 != 0 {
        return Err(Undecodable);
    }
    let mut picture = Dav1dPicture::default();
    // SAFETY: context and picture are valid.
    let got = unsafe { dav1d_get_picture(decoder.0, NonNull::new(&raw mut picture)) };
    if got.0 != 0 {
        return Err(Undecodable);
    }
    Frame::of(picture)
}

impl Frame {
    fn of(picture: Dav1dPicture) -> Result<Self, Undecodable> {
        let mut frame = Self {
            picture,
            width: 0,
            height: 0,
            bits: 0,
            layout: Layout::Grey,
            matrix: 0,
            is_full_range: false,
        };
        // From here on the frame frees the picture, whatever is wrong with it.
        let header = frame.picture.seq_hdr.ok_or(Undecodable)?;
        // SAFETY: the picture holds a reference on its sequence header.
        let header = unsafe { header.as_ref() };
        frame.matrix = u16::try_from(header.mtrx).map_err(|_| Undecodable)?;
        frame.is_full_range = header.color_range != 0;
        let parameters = &frame.picture.p;
        frame.width = u32::try_from(parameters.w).map_err(|_| Undecodable)?;
        frame.height = u32::try_from(parameters.h).map_err(|_| Undecodable)?;
        frame.bits = u32::try_from(parameters.bpc).map_err(|_| Undecodable)?;
        frame.layout = match parameters.layout {
            0 => Layout::Grey,
            1 => Layout::Yuv420,
            2 => Layout::Yuv422,
            3 => Layout::Yuv444,
            _ => return Err(Undecodable),
        };
        let planes = if frame.layout == Layout::Grey { 1 } else { 3 };
        let whole = frame.picture.data.iter().take(planes).all(Option::is_some);
        let mut planes = frame.picture.data.iter().flatten();
        let aligned = planes.all(|data| data.addr().get().is_multiple_of(2))
            && frame.picture.stride.iter().all(|stride| stride % 2 == 0);
        if !aligned && frame.bits != 8 {
            return Err(Undecodable);
        }
        if !whole || frame.width == 0 || frame.height == 0 || !matches!(frame.bits, 8 | 10 | 12) {
            return Err(Undecodable);
        }
        Ok(frame)
    }

    /// Width and height of a plane.
    fn extent(&self, plane: usize) -> (u32, u32) {
        let half = |length: u32| length.div_ceil(2);
        match (plane, self.layout) {
            (0, _) | (_, Layout::Grey | Layout::Yuv444) => (self.width, self.height),
            (_, Layout::Yuv422) => (half(self.width), self.height),
            (_, Layout::Yuv420) => (half(self.width), half(self.height)),
        }
    }

    /// A row of a plane; below the plane its last one.
    pub(crate) fn row(&self, plane: usize, y: u32) -> Row<'_> {
        let (width, height) = self.extent(plane);
        let Some(Some(data)) = self.picture.data.get(plane) else { return Row::Bytes(&[]) };
        let stride = self.picture.stride[usize::from(plane > 0)];
        let Ok(y) = isize::try_from(y.min(height - 1)) else { return Row::Bytes(&[]) };
        let width = width as usize;
        // SAFETY: y is within the plane, whose rows the decoder laid out `stride` bytes apart, each of at least
        // `width` samples, and the picture is alive and unchanged as long as `self` is borrowed. Samples of more
        // than 8 bits are two bytes; that rows of them are aligned was checked when the frame was made.
        unsafe {
            if self.bits == 8 {
                Row::Bytes(slice::from_raw_parts(data.as_ptr().cast::<u8>().offset(y * stride), width))
            } else {
                Row::Pairs(slice::from_raw_parts(data.as_ptr().cast::<u16>().offset(y * (stride / 2)), width))
            }
        }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: the picture came from the decoder and is released exactly once.
        unsafe { dav1d_picture_unref(NonNull::new(&raw mut self.picture)) }
    }
}
