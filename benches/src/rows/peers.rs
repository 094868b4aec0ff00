//! The same tool on other SDKs, when they are installed: `benches/peers/` has the servers.

use std::{
    env,
    ffi::OsString,
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::harness::{Outcome, process::Server};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Node,
}

pub(crate) struct Peer {
    pub(crate) what: &'static str,
    language: Language,
    /// What must be there for it to count as installed.
    packages: [&'static str; 2],
    file: &'static str,
    source: &'static str,
}

pub(crate) const ALL: [Peer; 3] = [
    Peer {
        what: "Python mcp server",
        language: Language::Python,
        packages: ["mcp.server", "uvicorn"],
        file: "python_mcp.py",
        source: include_str!("../../peers/python_mcp.py"),
    },
    Peer {
        what: "FastMCP server",
        language: Language::Python,
        packages: ["fastmcp", "uvicorn"],
        file: "fast_mcp.py",
        source: include_str!("../../peers/fast_mcp.py"),
    },
    Peer {
        what: "TypeScript server",
        language: Language::Node,
        packages: ["@modelcontextprotocol/server", "@modelcontextprotocol/node"],
        file: "typescript.mjs",
        source: include_str!("../../peers/typescript.mjs"),
    },
];

impl Peer {
    /// `None` when its packages are not installed.
    pub(crate) async fn start(&self) -> Outcome<Option<Server>> {
        let home = tempfile::tempdir()?;
        let file = home.path().join(self.file);
        std::fs::write(&file, self.source)?;
        let program = self.program();
        if self.language == Language::Node
            && let Some(modules) = env::var_os("ARENA_TEST_NODE_MODULES")
        {
            // A module's imports are looked for beside it.
            symlink(modules, home.path().join("node_modules"))?;
        }
        let [first, second] = self.packages;
        let check = match self.language {
            Language::Python => ["-c".to_owned(), format!("import {first}, {second}")],
            Language::Node => ["-e".to_owned(), format!("import('{first}').then(() => import('{second}'))")],
        };
        let installed = Command::new(&program)
            .current_dir(home.path())
            .args(check)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            return Ok(None);
        }
        let command = |address: std::net::SocketAddr| {
            let mut command = Command::new(program);
            command.current_dir(home.path()).arg(&file).arg(address.port().to_string());
            command
        };
        Server::start(command, "").await.map(Some).map_err(|error| format!("{}: {error}", self.what).into())
    }

    fn program(&self) -> OsString {
        match self.language {
            Language::Python => env::var_os("ARENA_TEST_PYTHON").unwrap_or_else(|| "python3".into()),
            Language::Node => env::var_os("ARENA_TEST_NODE_BIN")
                .map_or_else(|| "node".into(), |bin| PathBuf::from(bin).join("node").into_os_string()),
        }
    }
}
