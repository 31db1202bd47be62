//go:build !linux

package gittest

const memory = ""

func roomInMemory() bool { return false }
