import { TextField } from './field.tsx'

/** The server refuses shorter and longer passwords. */
const passwordMin = 15
const passwordMax = 256

type NewPasswordProps = { label?: string; note?: string }

/** Asks for a new password. */
export function NewPasswordField({ label = 'Password', note = 'A few words are good.' }: NewPasswordProps) {
  return (
    <TextField
      label={label}
      name="password"
      type="password"
      autoComplete="new-password"
      required
      minLength={passwordMin}
      maxLength={passwordMax}
      note={`At least ${passwordMin} characters. ${note}`}
    />
  )
}
