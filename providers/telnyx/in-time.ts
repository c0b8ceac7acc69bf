/** Applies the time limit to a leg's commands. */
import { PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { toLineError } from './wire.ts'

export type InTimeOptions = { clock: Pick<Clock, 'after'>; requestMs: number }

/** Returns the result. Rejects with PhoneLineError if the work fails or the time is up. */
export function inTime<T>({ clock, requestMs }: InTimeOptions, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(requestMs, () => reject(new PhoneLineError('timeout')))
    work.finally(cancel).then(resolve, (error: unknown) => reject(toLineError(error)))
  })
}
