/** How long a run and its parts may take, in milliseconds. */
export type Limits = {
  /** The limit for one answer with its body. A recognizer that loads its models takes half a minute. */
  answerMs: number
  /** The limit for a frame, and for a socket's opening or close. */
  frameMs: number
  /** The limit for one check with all its requests, and its waits for the rate limit. */
  checkMs: number
  /** The limit for the whole run. */
  runMs: number
  /** The limit for removing the run's resources at the end. */
  removalMs: number
}

export const usualLimits: Limits = {
  answerMs: 90_000,
  frameMs: 60_000,
  checkMs: 600_000,
  runMs: 3_600_000,
  removalMs: 60_000,
}

/** A request got no answer: no connection, a cut connection, or its time was over. */
export class Unanswered extends Error {}
/** The run ends before its last check. The message is the reason. */
export class RunEnded extends Error {}

/** Returns the reason why a signal ended a wait. */
export function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason)
}

/** Returns a signal that ends waits after this time. `what` names the time in its reason. */
export function signalAfter(ms: number, what: string): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`${what} took longer than ${ms / 1000} s`)), ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
