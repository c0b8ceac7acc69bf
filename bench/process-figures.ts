/** Reads a process's and its children's CPU and memory from /proc, which only Linux has. */
import { readdirSync, readFileSync } from 'node:fs'

// USER_HZ: /proc reports ticks of 10 ms, which is fixed in the Linux ABI.
const tickMs = 10

/** Returns a process's user and system time so far, in milliseconds. Resolution 10 ms. */
export function cpuMs(pid: number): number {
  const fields = afterName(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

/** Returns the user and system time for a process and all its children, including ended children (cutime, cstime). */
export function treeCpuMs(pid: number): number {
  const fields = afterName(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  const ended = (Number(fields[13]) + Number(fields[14])) * tickMs
  return cpuMs(pid) + ended + children(pid).reduce((sum, child) => sum + ofChild(child), 0)
}

/** Returns 0 if the child has ended since it was listed. The next reading counts it with the ended children. */
function ofChild(pid: number): number {
  try {
    return treeCpuMs(pid)
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0
    throw error
  }
}

export function residentMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  return Number(kib) / 1024
}

/** Lists a process's children. */
function children(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(afterName(readFileSync(`/proc/${name}/stat`, 'latin1'))[1]) === pid
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Returns the fields after the name. The name is in parentheses and can have blanks. Index 0 is the state. */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
