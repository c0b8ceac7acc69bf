import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./process.ts', import.meta.url))

export type Spawned = { child: ChildProcess; lines: string[]; ended: Promise<void> }

/** Starts test/store/process.ts and resolves with its lines up to `until`, or up to its end. */
export async function spawned(
  args: string[],
  until: string,
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Spawned> {
  const child = spawn(process.execPath, ['--import=tsx', script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
  const lines: string[] = []
  const ended = once(child, 'close').then(() => {})
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  await new Promise<void>((resolve) => {
    if (!child.stdout) return resolve()
    createInterface({ input: child.stdout })
      .on('line', (line) => {
        lines.push(line)
        if (line === until) resolve()
      })
      .on('close', resolve)
  })
  if (!lines.includes(until)) throw new Error(`${args.join(' ')}: ${errors}`)
  return { child, lines, ended }
}

export async function killed({ child, ended }: Spawned): Promise<void> {
  child.kill('SIGKILL')
  await ended
}
