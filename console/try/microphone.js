/** Explains to the user why a page has no microphone. */

/**
 * Explains why there is no microphone. Returns null if the browser can be asked for a microphone. `isSecure` and
 * `devices` are `window.isSecureContext` and `navigator.mediaDevices`.
 */
export function withoutMicrophone({ isSecure, devices }) {
  if (devices) return null
  return isSecure ? 'This browser gives pages no microphone.' : 'The microphone needs HTTPS.'
}

/** Returns null if the error is not about the microphone. */
export const microphoneFault = (error) => faults[error?.name] ?? null

/** The error names come from getUserMedia in the specification Media Capture and Streams. */
const faults = {
  NotAllowedError: 'The microphone was not allowed.',
  SecurityError: 'The microphone was not allowed.',
  NotFoundError: 'There is no microphone.',
  OverconstrainedError: 'There is no microphone that fits.',
  NotReadableError: 'The microphone is in use by another program, or cannot be read.',
  AbortError: 'The microphone could not be started.',
}

/** Returns a session's first line. `missing` is the reason for no microphone, or null. */
export function connectedWords({ resumed, recording }, missing) {
  const words = [resumed ? 'Connected again.' : 'Connected.']
  if (!resumed && recording) words.push('This conversation is recorded.')
  if (missing !== null) words.push(missing, 'Type instead.')
  return words.join(' ')
}
