package refusal

// ConfigMode is a servers file that somebody else may have written.
var ConfigMode = define("config.mode", ExitUsage, "the file[ {path}] can be written by others (mode {mode})", "path", "mode")

// ConfigImport is a file that import can make nothing of.
var ConfigImport = define("config.not_importable", ExitUsage, "{path} is no configuration of Claude Desktop, Claude Code, Cursor, VS Code, the Gemini CLI or Codex", "path")
