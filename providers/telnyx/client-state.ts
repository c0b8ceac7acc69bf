/** The state that Telnyx repeats in each event of a leg: our id of the leg. */

export const clientStateOf = (legId: string) => Buffer.from(legId).toString('base64')

const legIdForm = /^leg_[0-9a-f-]{36}$/

/** Null: a state that is not ours. A leg that calls us has none until it is answered. */
export function legIdOf(clientState: unknown): string | null {
  if (typeof clientState !== 'string') return null
  const text = Buffer.from(clientState, 'base64').toString('latin1')
  return legIdForm.test(text) ? text : null
}
