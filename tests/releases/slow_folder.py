#!/usr/bin/python3
"""A folder as a slow network shows it: slow_folder.py BEHIND PLACE MILLISECONDS

Serves BEHIND at PLACE (FUSE) until it is unmounted; every operation takes MILLISECONDS more. Locks are the kernel's own.
Needs Debian's python3-fusepy.
"""
import errno
import os
import sys
import time

import fusepy as fuse

STAT = ("st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid")


class SlowFolder(fuse.Operations):
    def __init__(self, behind, seconds):
        self.behind, self.seconds = behind, seconds

    def __call__(self, operation, path, *arguments):
        time.sleep(self.seconds)
        return super().__call__(operation, self.behind + path, *arguments)

    def getattr(self, path, fh=None):
        about = os.lstat(path)
        return {name: getattr(about, name) for name in STAT}

    def access(self, path, mode):
        if not os.access(path, mode):
            raise fuse.FuseOSError(errno.EACCES)
        return 0

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(path)]

    def readlink(self, path):
        return os.readlink(path)

    def open(self, path, flags):
        return os.open(path, flags)

    def create(self, path, mode, fi=None):
        made = os.open(path, os.O_RDWR | os.O_CREAT, mode)
        self._give(path)
        return made

    def mkdir(self, path, mode):
        os.mkdir(path, mode)
        self._give(path)

    def symlink(self, target, source):
        raise fuse.FuseOSError(errno.EPERM)

    @staticmethod
    def _give(path):
        os.lchown(path, *fuse.fuse_get_context()[:2])

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(path, length)

    def fsync(self, path, datasync, fh):
        os.fsync(fh)

    def release(self, path, fh):
        os.close(fh)

    def rename(self, old, new):
        os.rename(old, self.behind + new)

    def unlink(self, path):
        os.unlink(path)

    def rmdir(self, path):
        os.rmdir(path)

    def chmod(self, path, mode):
        os.chmod(path, mode)

    def chown(self, path, uid, gid):
        os.lchown(path, uid, gid)

    def utimens(self, path, times=None):
        os.utime(path, times)

    def statfs(self, path):
        about = os.statvfs(path)
        return {name: getattr(about, name) for name in ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_files", "f_frsize")}


if __name__ == "__main__":
    fuse.FUSE(SlowFolder(sys.argv[1], float(sys.argv[3]) / 1000), sys.argv[2], foreground=True, allow_other=True, big_writes=True,
              default_permissions=True)
