package config

import "mcpc/internal/strictjson"

// source reads an object that names where a secret comes from. Anything else at its place would be the secret itself.
// Only the custody key may use mcpc's own keyring entry, {"keyring": {}}.
func (v value) source(custody bool) Source {
	var s Source
	if strictjson.Kind(v.raw) != '{' {
		v.secret()
		return s
	}
	kinds := 0
	v.each(func(string, value) { kinds++ })
	v.members(map[string]func(value){
		"env":     func(v value) { s.Env = v.envName() },
		"file":    func(v value) { s.File = v.file() },
		"command": func(v value) { s.Command = v.argv() },
		"keyring": func(v value) { s.Keyring = v.keyringItem(custody) },
	})
	if kinds != 1 {
		v.wrong("a source is exactly one of env, file, keyring, command")
	}
	return s
}

func (v value) keyringItem(custody bool) *KeyringItem {
	k := &KeyringItem{}
	v.members(map[string]func(value){
		"service": func(v value) { k.Service = v.filled() },
		"account": func(v value) { k.Account = v.filled() },
	})
	whole := k.Service != "" && k.Account != ""
	if !whole && !(custody && *k == KeyringItem{}) {
		v.wrong("service and account are needed")
	}
	return k
}
