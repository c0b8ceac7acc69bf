/** The routing object for a `--model` pin; nothing where the router is to choose. */
export function explicit(pin: string | undefined): { routing?: { mode: 'explicit'; model: string } } {
  return pin ? { routing: { mode: 'explicit', model: pin } } : {}
}
