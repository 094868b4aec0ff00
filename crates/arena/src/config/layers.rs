//! Puts the layers of configuration together and remembers where each value came from.

use std::path::{Path, PathBuf};

use figment::{
    Figment, Metadata, Profile, Provider,
    providers::{Format, Toml},
    value::{Dict, Map, Value},
};

use super::{
    environment::Environment,
    model::Config,
    near::near,
    settings::{SETTINGS, Shape, find, variable},
};
use crate::{denied, exit::ExitCode, failure::Failure};

/// The file that is read from the data directory when it is there.
const FILE_NAME: &str = "arena.toml";
/// A configuration file over this size is not one.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const PREFIX: &str = "ARENA_";
/// Variables of the test suites, which the program does not read.
const TEST_PREFIX: &str = "ARENA_TEST_";
const DATA_DIR_VARIABLE: &str = "ARENA_DATA_DIR";
const CONFIG_VARIABLE: &str = "ARENA_CONFIG";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag(&'static str),
    Env(String),
    File(PathBuf),
    Default,
    /// Not set anywhere, and without a default.
    Unset,
}

impl Origin {
    /// Whether somebody chose the value.
    pub(crate) const fn is_chosen(&self) -> bool {
        !matches!(self, Self::Default | Self::Unset)
    }
}

/// A value given on the command line.
#[derive(Debug, Clone)]
pub(crate) struct FlagValue {
    pub(crate) key: &'static str,
    pub(crate) flag: &'static str,
    pub(crate) value: String,
}

impl FlagValue {
    /// The flag, if it was given.
    pub(crate) fn given(key: &'static str, flag: &'static str, value: Option<&String>) -> Option<Self> {
        value.map(|value| Self { key, flag, value: value.clone() })
    }
}

/// What the command line says about where things are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) config: Option<PathBuf>,
    /// Whether the data directory's own file is left alone: the demo is no part of an installation.
    pub(crate) ignore_own_file: bool,
}

/// One line of `arena config show`.
#[derive(Debug, Clone)]
pub(crate) struct Effective {
    pub(crate) key: &'static str,
    /// In the clear; whoever prints it masks secrets.
    pub(crate) value: Option<String>,
    pub(crate) origin: Origin,
    pub(crate) secret: bool,
    pub(crate) about: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) data_dir: PathBuf,
    pub(crate) values: Vec<Effective>,
}

impl Loaded {
    pub(crate) fn origin(&self, key: &str) -> &Origin {
        self.values.iter().find(|value| value.key == key).map_or(&Origin::Unset, |value| &value.origin)
    }
}

/// Loads every layer. `flags` win over the environment, which wins over the file.
pub(crate) fn load(
    environment: &Environment,
    places: &Places,
    flags: &[FlagValue],
) -> Result<Loaded, Failure> {
    let (data_dir, data_dir_origin) = data_dir(environment, places)?;
    let (file, file_origin) = config_file(environment, places, &data_dir);
    let from_file = match file_origin {
        Origin::Default if places.ignore_own_file => Dict::new(),
        Origin::Default => read_file(&file, true)?,
        _ => read_file(&file, false)?,
    };
    let from_env = read_environment(environment)?;
    let from_flags: Vec<(&str, &str)> = flags.iter().map(|flag| (flag.key, flag.value.as_str())).collect();
    let defaults: Vec<(&str, &str)> =
        SETTINGS.iter().filter_map(|setting| Some((setting.key, setting.default?))).collect();

    let figment = Figment::new()
        .merge(Layer::of_texts("default", &defaults)?)
        .merge(Layer { name: "file", dict: from_file })
        .merge(Layer::of_texts("env", &from_env)?)
        .merge(Layer::of_texts("flag", &from_flags)?);

    let origin_of = |key: &'static str| match figment.find_metadata(key).map(|found| found.name.as_ref()) {
        Some("flag") => {
            flags.iter().find(|flag| flag.key == key).map_or(Origin::Unset, |flag| Origin::Flag(flag.flag))
        }
        Some("env") => Origin::Env(variable(key)),
        Some("file") => Origin::File(file.clone()),
        Some(_) => Origin::Default,
        None => Origin::Unset,
    };
    let config: Config = figment.extract().map_err(|error| {
        let key = error.path.join(".");
        let place = find(&key).map_or(String::new(), |known| format!(" ({})", origin_of(known.key)));
        Failure::usage(format!("{key}{place}: {}", error.kind)).hint("see `arena config show` for every key")
    })?;
    config.check()?;

    let mut values = vec![
        Effective {
            key: "data_dir",
            value: Some(data_dir.display().to_string()),
            origin: data_dir_origin,
            secret: false,
            about: "where arena.db, arena.toml and admin.sock are",
        },
        Effective {
            key: "config",
            value: Some(file.display().to_string()),
            origin: file_origin,
            secret: false,
            about: "the configuration file, read when it exists",
        },
    ];
    values.extend(SETTINGS.iter().map(|setting| Effective {
        key: setting.key,
        value: figment.find_value(setting.key).ok().as_ref().and_then(text_of),
        origin: origin_of(setting.key),
        secret: setting.secret,
        about: setting.about,
    }));
    Ok(Loaded { config, data_dir, values })
}

/// The data directory, in the working one, of a user who has no home.
const FALLBACK_DATA_DIR: &str = "arena-data";

fn data_dir(environment: &Environment, places: &Places) -> Result<(PathBuf, Origin), Failure> {
    let (path, origin) = if let Some(path) = &places.data_dir {
        (path.clone(), Origin::Flag("--data-dir"))
    } else if let Some(path) = environment.get(DATA_DIR_VARIABLE) {
        (PathBuf::from(path), Origin::Env(DATA_DIR_VARIABLE.to_owned()))
    } else {
        // A client may start us with a bare environment; commands that keep no data must still run.
        let path = environment.default_data_dir().unwrap_or_else(|| PathBuf::from(FALLBACK_DATA_DIR));
        (path, Origin::Default)
    };
    if path.as_os_str().is_empty() {
        return Err(Failure::usage(format!("the data directory is empty ({origin})"))
            .hint("name a directory, for example --data-dir ./data"));
    }
    let path = std::path::absolute(&path).unwrap_or(path);
    Ok((path, origin))
}

fn config_file(environment: &Environment, places: &Places, data_dir: &Path) -> (PathBuf, Origin) {
    if let Some(path) = &places.config {
        (path.clone(), Origin::Flag("--config"))
    } else if let Some(path) = environment.get(CONFIG_VARIABLE) {
        (PathBuf::from(path), Origin::Env(CONFIG_VARIABLE.to_owned()))
    } else {
        (data_dir.join(FILE_NAME), Origin::Default)
    }
}

/// Reads the file; one that nobody named may be missing.
fn read_file(path: &Path, may_be_missing: bool) -> Result<Dict, Failure> {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    let name = path.display();
    let unreadable = |error: &std::io::Error| {
        denied::failure_with(ExitCode::Usage, "read the configuration file", path, error)
    };
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() > FILE_BYTES_MAX => {
            return Err(Failure::usage(format!("{name} is over {FILE_BYTES_MAX} bytes"))
                .hint("name a TOML file of settings"));
        }
        Ok(_) => {}
        // Whoever opens the data directory says what is wrong with it, in better words.
        Err(error)
            if may_be_missing && matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) =>
        {
            return Ok(Dict::new());
        }
        Err(error) => return Err(unreadable(&error)),
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    let mut profiles = Toml::string(&text).data().map_err(|error| {
        Failure::usage(format!("{name} is not valid TOML: {}", error.kind.to_string().trim_end()))
            .hint("correct the line named above")
    })?;
    let dict = profiles.remove(&Profile::Default).unwrap_or_default();
    let mut keys = Vec::new();
    leaves(&dict, "", &mut keys);
    for key in keys {
        if find(&key).is_none() {
            return Err(unknown(&format!("{name} has the unknown key {key}"), &key, |known| {
                known.to_owned()
            }));
        }
    }
    Ok(dict)
}

fn read_environment(environment: &Environment) -> Result<Vec<(&'static str, &str)>, Failure> {
    let mut found = Vec::new();
    for (name, value) in environment.starting_with(PREFIX) {
        if name.starts_with(TEST_PREFIX) || matches!(name, DATA_DIR_VARIABLE | CONFIG_VARIABLE) {
            continue;
        }
        let key = name[PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
        match find(&key) {
            Some(setting) => found.push((setting.key, value)),
            None => {
                return Err(unknown(
                    &format!("the environment has the unknown variable {name}"),
                    &key,
                    variable,
                ));
            }
        }
    }
    Ok(found)
}

fn unknown(what: &str, key: &str, spell: impl Fn(&str) -> String) -> Failure {
    let close: Vec<String> =
        near(key, SETTINGS.iter().map(|setting| setting.key)).into_iter().map(spell).collect();
    Failure::usage(what).hint(if close.is_empty() {
        "see `arena config show` for every key, and remove this one".to_owned()
    } else {
        format!("did you mean {}?", close.join(" or "))
    })
}

/// The dotted keys of every value that is not a table.
fn leaves(dict: &Dict, prefix: &str, out: &mut Vec<String>) {
    for (name, value) in dict {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value.as_dict() {
            Some(inner) => leaves(inner, &key, out),
            None => out.push(key),
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(_, text) => Some(text.clone()),
        Value::Array(_, parts) => Some(parts.iter().filter_map(text_of).collect::<Vec<_>>().join(", "))
            .filter(|text| !text.is_empty()),
        Value::Num(_, num) => num
            .to_i128()
            .map(|whole| whole.to_string())
            .or_else(|| num.to_u128().map(|whole| whole.to_string()))
            .or_else(|| num.to_f64().map(|float| float.to_string())),
        _ => None,
    }
}

/// One layer, whose name is its origin.
struct Layer {
    name: &'static str,
    dict: Dict,
}

impl Layer {
    fn of_texts(name: &'static str, pairs: &[(&str, &str)]) -> Result<Self, Failure> {
        let mut dict = Dict::new();
        for (key, text) in pairs {
            let shape = find(key).map_or(Shape::Text, |setting| setting.shape);
            put(&mut dict, key, value_of(key, shape, text)?);
        }
        Ok(Self { name, dict })
    }
}

fn value_of(key: &str, shape: Shape, text: &str) -> Result<Value, Failure> {
    match shape {
        Shape::Text => Ok(Value::from(text)),
        Shape::Whole => text
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| Failure::usage(format!("{key} is {text:?}, which is not a whole number"))),
        Shape::List => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            Ok(Value::from(parts.map(str::to_owned).collect::<Vec<String>>()))
        }
    }
}

fn put(dict: &mut Dict, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            dict.insert(key.to_owned(), value);
        }
        Some((section, rest)) => {
            let mut inner = dict.get(section).and_then(Value::as_dict).cloned().unwrap_or_default();
            put(&mut inner, rest, value);
            dict.insert(section.to_owned(), Value::from(inner));
        }
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}
