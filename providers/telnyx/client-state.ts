/**
 * Reads and writes the client state: Telnyx repeats this text in each event for a leg. Our client state is the leg's
 * id.
 */

export const clientStateOf = (legId: string) => Buffer.from(legId).toString('base64')

const legIdForm = /^leg_[0-9a-f-]{36}$/

/**
 * Returns the leg's id. Returns null if the state was not set by us. An inbound leg has no state until it is answered.
 */
export function legIdOf(clientState: unknown): string | null {
  if (typeof clientState !== 'string') return null
  const text = Buffer.from(clientState, 'base64').toString('latin1')
  return legIdForm.test(text) ? text : null
}
