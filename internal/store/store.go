// Package store keeps files where the XDG base directory specification puts them, crash-safe and owner-only: snapshots,
// which are written once, and credentials, which are sealed.
//
// It guarantees that a file is whole or not there, whenever the process or the machine ends; that a stored credential
// opens only with its key, under its own file name, for its own resource and issuer; that no secret is on disk in the
// clear; and that two processes which change one credential do so one after the other. It does not defend against
// another program of the same user that has the key, nor against an older file of the same credential put back in its
// place.
package store
