/* SPDX-License-Identifier: BSD-3-Clause */
/* Input and output: handles are created before they are used and not used afterwards, operations begin and
 * complete under one matching number. A handle belongs to a process; where that has several threads, only the
 * whole tells whether it was ever created. */
#include "otf2/check_state.h"

#include <inttypes.h>

static struct fv_check_handle *handle_of(struct fv_check *c, OTF2_IoHandleRef id, const char *field)
{
    struct fv_check_handle *h;
    uint32_t index;

    if (!fv_check_reference(c, FV_DEF_IO_HANDLE, id, field))
        return NULL;
    index = fv_def_find(c, FV_DEF_IO_HANDLE, id);
    h = &c->handles[index];
    if (h->epoch != c->here.epoch) {
        h->epoch = c->here.epoch;
        h->open = fv_def_at(c, FV_DEF_IO_HANDLE, index)->u.handle.pre_created;
        h->created = h->created || h->open;
    }
    return h;
}

static struct fv_check_handle *use(struct fv_check *c, OTF2_IoHandleRef id)
{
    struct fv_check_handle *h = handle_of(c, id, "handle");

    if (!h)
        return NULL;
    if (!h->used) {
        h->used = true;
        h->user = c->here.location;
        h->use_time = c->where.time;
    }
    if (!h->open && !c->here.shared) {
        h->open = true; /* it is said once */
        fv_fault(c, FV_IO_HANDLE, "handle \"%s\" (%u) is not open here: neither created nor PRE_CREATED, or destroyed",
                 fv_def_text(c, FV_DEF_IO_HANDLE, id), id);
    }
    return h;
}

static void create(struct fv_check *c, OTF2_IoHandleRef id, const char *field)
{
    struct fv_check_handle *h = handle_of(c, id, field);

    if (h)
        h->open = h->created = true;
}

static OTF2_CallbackCode on_IoCreateHandle(FV_EVENT, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode,
                                           __attribute__((unused)) OTF2_IoCreationFlag creation,
                                           __attribute__((unused)) OTF2_IoStatusFlag status)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoCreateHandle");

    create(c, handle, "handle");
    if (mode > OTF2_IO_ACCESS_MODE_SEARCH_ONLY)
        fv_fault(c, FV_ENUM, "access mode %u is unknown", mode);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoDestroyHandle(FV_EVENT, OTF2_IoHandleRef handle)
{
    struct fv_check_handle *h = use(fv_check_event(data, time, attributes, "IoDestroyHandle"), handle);

    if (h)
        h->open = false;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoDuplicateHandle(FV_EVENT, OTF2_IoHandleRef old, OTF2_IoHandleRef new,
                                              __attribute__((unused)) OTF2_IoStatusFlag status)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoDuplicateHandle");

    use(c, old);
    create(c, new, "new handle");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoSeek(FV_EVENT, OTF2_IoHandleRef handle, __attribute__((unused)) int64_t request,
                                   OTF2_IoSeekOption whence, __attribute__((unused)) uint64_t result)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoSeek");

    use(c, handle);
    if (whence > OTF2_IO_SEEK_HOLE)
        fv_fault(c, FV_ENUM, "seek option %u is unknown", whence);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoChangeStatusFlags(FV_EVENT, OTF2_IoHandleRef handle,
                                                __attribute__((unused)) OTF2_IoStatusFlag status)
{
    use(fv_check_event(data, time, attributes, "IoChangeStatusFlags"), handle);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoDeleteFile(FV_EVENT, OTF2_IoParadigmRef paradigm, OTF2_IoFileRef file)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoDeleteFile");

    fv_check_reference(c, FV_DEF_IO_PARADIGM, paradigm, "I/O paradigm");
    fv_check_reference(c, FV_DEF_IO_FILE, file, "file");
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- operations ---- */

static OTF2_CallbackCode on_IoOperationBegin(FV_EVENT, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode,
                                             __attribute__((unused)) OTF2_IoOperationFlag flags,
                                             __attribute__((unused)) uint64_t bytes, uint64_t matching)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoOperationBegin");

    use(c, handle);
    if (mode > OTF2_IO_OPERATION_MODE_FLUSH)
        fv_fault(c, FV_ENUM, "operation mode %u is unknown", mode);
    fv_check_start(c, FV_ACTIVE_IO, handle, matching, 1, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoOperationTest(FV_EVENT, OTF2_IoHandleRef handle, uint64_t matching)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoOperationTest");

    use(c, handle);
    fv_check_goes_on(c, FV_ACTIVE_IO, handle, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoOperationIssued(FV_EVENT, OTF2_IoHandleRef handle, uint64_t matching)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoOperationIssued");

    use(c, handle);
    fv_check_goes_on(c, FV_ACTIVE_IO, handle, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static void complete(struct fv_check *c, OTF2_IoHandleRef handle, uint64_t matching)
{
    struct fv_entry entry;

    use(c, handle);
    fv_check_complete(c, FV_ACTIVE_IO, handle, matching, &entry);
}

static OTF2_CallbackCode on_IoOperationComplete(FV_EVENT, OTF2_IoHandleRef handle,
                                                __attribute__((unused)) uint64_t bytes, uint64_t matching)
{
    complete(fv_check_event(data, time, attributes, "IoOperationComplete"), handle, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoOperationCancelled(FV_EVENT, OTF2_IoHandleRef handle, uint64_t matching)
{
    complete(fv_check_event(data, time, attributes, "IoOperationCancelled"), handle, matching);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- locks ---- */

static OTF2_CallbackCode on_IoAcquireLock(FV_EVENT, OTF2_IoHandleRef handle, __attribute__((unused)) OTF2_LockType type)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoAcquireLock");

    use(c, handle);
    fv_check_start(c, FV_ACTIVE_IO_LOCK, handle, 0, 1, 0);
    return OTF2_CALLBACK_SUCCESS;
}

/* It was not granted. */
static OTF2_CallbackCode on_IoTryLock(FV_EVENT, OTF2_IoHandleRef handle, __attribute__((unused)) OTF2_LockType type)
{
    use(fv_check_event(data, time, attributes, "IoTryLock"), handle);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_IoReleaseLock(FV_EVENT, OTF2_IoHandleRef handle, __attribute__((unused)) OTF2_LockType type)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "IoReleaseLock");
    struct fv_entry entry;

    use(c, handle);
    fv_check_complete(c, FV_ACTIVE_IO_LOCK, handle, 0, &entry);
    return OTF2_CALLBACK_SUCCESS;
}

#define EVENTS(X)          \
    X(IoCreateHandle)      \
    X(IoDestroyHandle)     \
    X(IoDuplicateHandle)   \
    X(IoSeek)              \
    X(IoChangeStatusFlags) \
    X(IoDeleteFile)        \
    X(IoOperationBegin)    \
    X(IoOperationTest)     \
    X(IoOperationIssued) X(IoOperationComplete) X(IoOperationCancelled) X(IoAcquireLock) X(IoTryLock) X(IoReleaseLock)

void fv_check_register_io(OTF2_EvtReaderCallbacks *callbacks)
{
#define REGISTER(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_##name);
    EVENTS(REGISTER)
#undef REGISTER
}

void fv_check_io_all(struct fv_check *c)
{
    const struct fv_definitions *d = &c->definitions[FV_DEF_IO_HANDLE];

    for (uint32_t i = 0; i < d->count; i++) {
        const struct fv_check_handle *h = &c->handles[i];
        const struct fv_fault_place where = { .scope = FV_OF_LOCATION, .location = h->user, .time = h->use_time };
        uint32_t group =
            !h->used ? FV_NONE
                     : fv_def_find(c, FV_DEF_LOCATION_GROUP, fv_def_at(c, FV_DEF_LOCATION, h->user)->u.location.group);

        /* Where the process has one thread, the use itself was reported. */
        if (h->used && !h->created && group != FV_NONE &&
            fv_def_at(c, FV_DEF_LOCATION_GROUP, group)->u.location_group.locations > 1)
            fv_fault_at(c, &where, FV_IO_HANDLE, "handle \"%s\" (%" PRIu64 ") is used but never created",
                        fv_def_text(c, FV_DEF_IO_HANDLE, d->ids[i]), d->ids[i]);
    }
}
