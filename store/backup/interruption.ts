/** If a signal such as Ctrl-C arrives, a command cleans up its unfinished work before it ends. */
import { BackupError } from './format.ts'

export type Interruption = {
  /** Rejects when a signal arrives. */
  arrived: Promise<never>
  /** The message for the BackupError that `arrived` rejects with. */
  message: string
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function interruptible<T>(work: (interruption: Interruption) => Promise<T>): Promise<T> {
  let stop = () => {}
  const release = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  const arrived = new Promise<never>((_, reject) => {
    stop = () => {
      // A second signal ends the process at once, as it does by default, because the cleanup can take long.
      release()
      reject(new BackupError(interruption.message))
    }
  })
  const interruption = { arrived, message: 'the command was interrupted' }
  arrived.catch(() => {}) // Prevents an unhandled rejection if the signal arrives before any code waits for it.
  for (const signal of signals) process.on(signal, stop)
  try {
    return await work(interruption)
  } finally {
    release()
  }
}

/** Rejects if the signal has arrived. Call it before a step that cannot be undone. */
export async function requireUninterrupted({ arrived }: Interruption): Promise<void> {
  await Promise.race([arrived, Promise.resolve()])
}
