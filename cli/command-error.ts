/** An error whose message names the user's next step. It is printed without a stack. */
export class CommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
  }
}

/** The command line is invalid, and no work was begun. */
export class UsageError extends CommandError {}

/** The server does not accept the API key, so another try does not help. */
export class KeyRefused extends CommandError {}

/** Throws CommandError with the message if `value` is null. */
export function required<Value>(value: Value | null, message: string): Value {
  if (value === null) throw new CommandError(message)
  return value
}

export const noOrganization = (id: string) => `there is no organization ${id}; \`parley org list\` shows them`
