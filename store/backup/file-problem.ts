/** Explains why a command cannot use its file, and how to correct it. */
import path from 'node:path'
import { BackupError } from './format.ts'

/** `used` tells if the command tried to write the file or to read it. */
type Use = { file: string; used: 'written' | 'read' }

/** Turns a file system error into a BackupError with a remedy. Returns any other error unchanged. */
export function explained(error: unknown, use: Use): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined || !fileCalls.has(syscall)) return error
  return problem(use, reasons[code]?.(use) ?? `the system says ${code}`, error)
}

export function problem({ file, used }: Use, reason: string, cause?: unknown): BackupError {
  const left = used === 'written' ? ' No part of it is left, and a file of that name is as it was.' : ''
  return new BackupError(`${file} cannot be ${used}: ${reason}.${left}`, { cause })
}

const fileCalls = new Set(['open', 'stat', 'read', 'write', 'fsync', 'close', 'rename'])

const noRoom = () => 'the disk is full, or a limit of this user is reached; make room, or name a file on another disk'
const noPermission = ({ file, used }: Use) =>
  `this user has no permission; ${used === 'read' ? 'change that of the file, or run this as another user' : `name another folder than ${path.dirname(file)}, or run this as another user`}`

/** The explanation for each error code. */
const reasons: Readonly<Record<string, (use: Use) => string>> = {
  ENOENT: ({ file, used }) =>
    used === 'read' ? 'there is no such file' : `there is no folder ${path.dirname(`${file}.`)}; make it first`,
  ENOTDIR: () => 'a part of its path is a file and no folder',
  EISDIR: () => 'it is a folder; name a file in it',
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: () => 'its disk can only be read; name a file on another one',
  ENOSPC: noRoom,
  EDQUOT: noRoom,
  EFBIG: noRoom,
  ENAMETOOLONG: () => 'the name is too long',
  EIO: () => 'the disk does not work',
  ELOOP: () => 'its path goes through links in a circle',
}
