package refusal

// ConfigMode is a servers file that somebody else may have written.
var ConfigMode = define("config.mode", ExitUsage, "the file[ {path}] can be written by others (mode {mode})", "path", "mode")
