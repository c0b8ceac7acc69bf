/** A model cannot be added. The message is for the user. */
export class InstallError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'InstallError'
  }
}
