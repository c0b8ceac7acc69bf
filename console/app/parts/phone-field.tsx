import type { ComponentProps } from 'react'
import { type Labelled, TextField } from './field.tsx'

/** Asks for a phone number in E.164. */
export const PhoneField = (props: ComponentProps<'input'> & Labelled) => (
  <TextField type="tel" pattern="\+[1-9][0-9]{6,14}" title="A number in E.164, such as +12125550123" {...props} />
)
