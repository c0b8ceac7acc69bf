package dev.parley.client;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Says how the types of a sealed interface are told apart in JSON. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface Union {
    /** The tag of a frame of bytes. */
    String BINARY = "(binary)";

    /** The field with the tag. Empty if the kind of JSON tells the types apart, or the name of an event. */
    String tag() default "";

    /** The types. */
    Arm[] value();

    /** The type for values from a later version of the server. */
    Class<?> unknown() default Void.class;

    /** One type of a union. */
    @Target({})
    @interface Arm {
        /** The tags, names of events, or kinds of JSON: string, number, boolean, object or array. */
        String[] on();

        /** The type. */
        Class<?> as();
    }
}
