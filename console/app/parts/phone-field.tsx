import type { ComponentProps } from 'react'
import type { Labelled } from './field.tsx'
import { e164Of } from './tidy.ts'
import { TidyField } from './tidy-field.tsx'

/** Asks for a phone number in E.164. Other ways to write a number become E.164 when a person leaves the field. */
export const PhoneField = (props: ComponentProps<'input'> & Labelled) => (
  <TidyField
    type="tel"
    pattern="\+[1-9][0-9]{6,14}"
    title="A number in E.164, such as +12125550123"
    placeholder="+12125550123"
    tidy={e164Of}
    {...props}
  />
)
