//go:build !unix

package githistory

import "errors"

func mkfifo(...string) error { return errors.ErrUnsupported }

func unblock(string) {}
