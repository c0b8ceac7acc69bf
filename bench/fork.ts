import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'

/**
 * Forks a bench process that sends its port once it listens. The forked process exits when its channel to this process
 * closes.
 */
export async function forkListener(
  file: string,
  args: string[] = [],
): Promise<{ port: number; pid: number; child: ChildProcess }> {
  const child = fork(path.join(import.meta.dirname, file), args, { execArgv: ['--import', 'tsx'] })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message: { port: number }) => resolve(message.port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
  return { port, pid: child.pid as number, child }
}
