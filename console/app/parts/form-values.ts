import type { FormEvent } from 'react'

/** Has the values that a form had when a person submitted the form. */
export class FormValues {
  readonly #data: FormData

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form)
  }

  /** Returns a field's text. A missing field is an empty text. */
  text(name: string): string {
    return this.#written(name).trim()
  }

  /** Returns a field's text with the spaces at its ends, because they are a part of a password. */
  password(name = 'password'): string {
    return this.#written(name)
  }

  /** Returns the text, or undefined for an empty field. */
  optional(name: string): string | undefined {
    const text = this.text(name)
    return text === '' ? undefined : text
  }

  number(name: string): number | undefined {
    const text = this.text(name)
    return text === '' ? undefined : Number(text)
  }

  /** Returns the values from all checked boxes with this name. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === 'string')
  }

  has(name: string): boolean {
    return this.#data.has(name)
  }

  #written(name: string): string {
    const value = this.#data.get(name)
    return typeof value === 'string' ? value : ''
  }
}

/** Makes a form's listener that calls `submit` with the values, instead of loading a page. */
export function onSubmit(submit: (values: FormValues) => void): (event: FormEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault()
    submit(new FormValues(event.currentTarget))
  }
}
