import type { ComponentProps, FocusEvent, KeyboardEvent } from 'react'
import { type Labelled, TextField } from './field.tsx'

type TidyProps = ComponentProps<'input'> & Labelled & { tidy: (text: string) => string }

/** A text that is rewritten when a person leaves the field or presses Enter, before the browser checks the form. */
export function TidyField({ tidy, ...rest }: TidyProps) {
  const rewrite = (input: HTMLInputElement) => {
    const tidied = tidy(input.value)
    if (tidied !== input.value) input.value = tidied
  }
  return (
    <TextField
      onBlur={(event: FocusEvent<HTMLInputElement>) => rewrite(event.currentTarget)}
      onKeyDown={(event: KeyboardEvent<HTMLInputElement>) => {
        if (event.key === 'Enter') rewrite(event.currentTarget)
      }}
      {...rest}
    />
  )
}
