//! `semel completions`: what a shell needs to complete our words.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel completions bash > ~/.local/share/bash-completion/completions/semel"
)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> u8 {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "semel", &mut script);
        crate::term::print_line(String::from_utf8_lossy(&script).trim_end());
        0
    }
}
