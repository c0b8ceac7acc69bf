/**
 * The messages between a child process for speech and its parent. A child has one job at a time, so messages carry no
 * id.
 */

/**
 * Asks the child to load its models and do a first job, because a process's first job takes much longer than later
 * jobs.
 */
export type WarmInput = { warm: true }

/**
 * Messages to the child. Each `more` from the child is answered with one `piece` or `ended`, so the child never
 * receives more audio than requested.
 */
export type ToSpeechChild =
  | { type: 'start'; input: unknown }
  | { type: 'piece'; bytes: Uint8Array }
  | { type: 'ended' }
  | { type: 'stop' }

/**
 * Messages from the child. `done` and `failed` end the job. The error text in `message` never contains the request's
 * text or audio.
 */
export type FromSpeechChild =
  | { type: 'more' }
  | { type: 'progress'; doneMs: number }
  | { type: 'done'; output: unknown }
  | { type: 'failed'; errorClass: 'bad_request' | 'server'; message: string }
