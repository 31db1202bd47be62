//go:build !unix

package githistory_test

import "errors"

func mkfifo(...string) error { return errors.ErrUnsupported }

func unblock(string) {}
