package dev.parley.client;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.Deserializers;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Teaches Jackson the types of this package: Nullable, Wrapper, Union and times. */
final class ContractModule extends SimpleModule {
    private static final long serialVersionUID = 1L;

    ContractModule() {
        addSerializer(Instant.class, writer(Object::toString));
        addSerializer(Enum.class, writer(value -> Open.textOf((Enum<?>) value)));
        addSerializer(Open.class, writer(open -> ((Open<?>) open).text()));
        addSerializer(Wrapper.class, writer(wrapper -> ((Wrapper<?>) wrapper).value()));
        addSerializer(Nullable.class, writer(nullable -> ((Nullable<?>) nullable).value()));
    }

    @Override
    public void setupModule(SetupContext context) {
        super.setupModule(context);
        context.addDeserializers(new ContractDeserializers());
    }

    private static JsonSerializer<Object> writer(Function<Object, Object> inner) {
        return new JsonSerializer<>() {
            @Override
            public void serialize(Object value, JsonGenerator json, SerializerProvider provider) throws IOException {
                provider.defaultSerializeValue(inner.apply(value), json);
            }
        };
    }

    private static final class ContractDeserializers extends Deserializers.Base {
        @Override
        public JsonDeserializer<?> findEnumDeserializer(Class<?> type, DeserializationConfig config, BeanDescription bean) {
            return new EnumReader(type);
        }

        @Override
        public JsonDeserializer<?> findBeanDeserializer(JavaType type, DeserializationConfig config, BeanDescription bean) {
            Class<?> raw = type.getRawClass();
            if (raw == Instant.class) return new InstantReader();
            if (raw == Open.class) return new OpenReader(type.containedType(0).getRawClass());
            if (raw == Nullable.class) return new NullableReader(type.containedType(0));
            if (raw.isAnnotationPresent(Union.class)) return new UnionReader(raw.getAnnotation(Union.class));
            return raw.isRecord() && Wrapper.class.isAssignableFrom(raw) ? new WrapperReader(raw) : null;
        }
    }

    private static final class InstantReader extends JsonDeserializer<Instant> {
        @Override
        public Instant deserialize(JsonParser json, DeserializationContext context) throws IOException {
            String text = context.readValue(json, String.class);
            try {
                return OffsetDateTime.parse(text).toInstant();
            } catch (DateTimeException e) {
                return (Instant) context.handleWeirdStringValue(Instant.class, text, "not a time of RFC 3339");
            }
        }
    }

    private static final class EnumReader extends JsonDeserializer<Object> {
        private final Class<?> type;

        EnumReader(Class<?> type) {
            this.type = type;
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            return Open.find(type, context.readValue(json, String.class)).orElse(null);
        }
    }

    private static final class OpenReader extends JsonDeserializer<Object> {
        private final Class<?> type;

        OpenReader(Class<?> type) {
            this.type = type;
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            return open(context.readValue(json, String.class));
        }

        @SuppressWarnings("unchecked")
        private <E extends Enum<E>> Open<E> open(String text) {
            return new Open<>(text, (E) Open.find(type, text).orElse(null));
        }
    }

    private static final class NullableReader extends JsonDeserializer<Nullable<?>> {
        private final JavaType inner;

        NullableReader(JavaType inner) {
            this.inner = inner;
        }

        @Override
        public Nullable<?> deserialize(JsonParser json, DeserializationContext context) throws IOException {
            return Nullable.of(context.<Object>readValue(json, inner));
        }

        @Override
        public Nullable<?> getNullValue(DeserializationContext context) {
            return Nullable.of(null);
        }

        @Override
        public Object getAbsentValue(DeserializationContext context) {
            return null;
        }
    }

    private static final class WrapperReader extends JsonDeserializer<Object> {
        private final Class<?> type;
        private final RecordComponent component;

        WrapperReader(Class<?> type) {
            this.type = type;
            this.component = type.getRecordComponents()[0];
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            JavaType inner = context.getTypeFactory().constructType(component.getGenericType());
            Object value = context.readValue(json, inner);
            try {
                return type.getDeclaredConstructor(component.getType()).newInstance(value);
            } catch (ReflectiveOperationException e) {
                throw new IOException(e);
            }
        }
    }

    private static final class UnionReader extends JsonDeserializer<Object> {
        private final Union rule;

        UnionReader(Union rule) {
            this.rule = rule;
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            JsonNode node = context.readTree(json);
            String tag = rule.tag().isEmpty() ? kindOf(node) : node.path(rule.tag()).asText();
            Object value = context.readTreeAsValue(node, armFor(tag));
            return value == null ? context.readTreeAsValue(node, rule.unknown()) : value;
        }

        private Class<?> armFor(String tag) {
            for (Union.Arm arm : rule.value()) if (List.of(arm.on()).contains(tag)) return arm.as();
            return rule.unknown();
        }

        private static String kindOf(JsonNode node) {
            return node.getNodeType().name().toLowerCase(Locale.ROOT);
        }
    }
}
