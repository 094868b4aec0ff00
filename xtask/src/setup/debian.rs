//! Debian's packages, for a machine where this process may install them.

use std::{path::Path, process::Command};

use crate::{ground::is_root, run::Steps};

/// Installs packages by name, after bringing the lists up to date.
pub(crate) fn install(steps: &mut Steps<'_>, packages: &[&str]) -> Result<(), String> {
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err("this is not Debian, so packages are yours to install".to_owned());
    }
    if !is_root() {
        return Err(format!("run `apt-get install {}` as root", packages.join(" ")));
    }
    steps.say(&format!("installing Debian's {}", packages.join(", ")));
    steps.run("apt-get update", apt().arg("update"))?;
    let mut install = apt();
    install.args(["install", "-y", "--no-install-recommends"]).args(packages);
    steps.run("apt-get install", &mut install)
}

fn apt() -> Command {
    let mut command = Command::new("/usr/bin/apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("-q");
    command
}
