/** Explains to the user why a page has no microphone. */

/**
 * Returns the reason why the page cannot use a microphone. Returns null if the page may ask the browser for a
 * microphone. `isSecure` and `devices` are `window.isSecureContext` and `navigator.mediaDevices`.
 */
export function withoutMicrophone({ isSecure, devices }) {
  if (devices) return null
  return isSecure ? 'This browser gives pages no microphone.' : 'The microphone needs HTTPS.'
}

/** Returns the explanation for a microphone error. Returns null for any other error. */
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

/** Returns the first status text for a session. `missing` is the reason why there is no microphone, or null. */
export function connectedWords({ resumed, recording }, missing) {
  const words = [resumed ? 'Connected again.' : 'Connected.']
  if (!resumed && recording) words.push('This conversation is recorded.')
  if (missing !== null) words.push(missing, 'Type instead.')
  return words.join(' ')
}
