"""Django: migrate its own applications, a model of ours through the schema editor, queries, inspectdb."""
import io, sys
from urllib.parse import urlparse
import django
from django.conf import settings

url = urlparse(sys.argv[1])
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": url.path[1:], "USER": url.username, "HOST": url.hostname, "PORT": url.port}},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django.contrib.admin", "library"],
    USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", SECRET_KEY="for tests only")
django.setup()
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connection, models, transaction
from library.models import Book, Shelf
from django.db.models import Count, F, Sum, Window
from django.db.models.functions import RowNumber, TruncMonth

with connection.cursor() as cursor:
    cursor.execute("drop schema public cascade; create schema public")
call_command("migrate", verbosity=0, interactive=False)
call_command("migrate", verbosity=0, interactive=False)

with connection.schema_editor() as editor:
    editor.create_model(Shelf)
    editor.create_model(Book)
    field = models.BooleanField(default=False)
    field.set_attributes_from_name("lent")
    editor.add_field(Book, field)
    editor.remove_field(Book, field)
    longer = models.CharField(max_length=100, unique=True)
    longer.set_attributes_from_name("name")
    longer.model = Shelf
    editor.alter_field(Shelf, Shelf._meta.get_field("name"), longer)

from django.utils import timezone
shelf = Shelf.objects.create(name="top")
Book.objects.bulk_create(Book(shelf=shelf, title=f"Book {i}", pages=i * 10, bought=timezone.now(), data={"n": i}) for i in range(20))
assert Book.objects.filter(title__icontains="book 1").count() == 11
assert Book.objects.filter(data__n__gte=15).count() == 5
assert Shelf.objects.annotate(n=Count("books"), total=Sum("books__pages")).values_list("n", "total").get() == (20, 1900)
assert Book.objects.filter(pages__gt=100).update(pages=F("pages") + 1) == 9
ranked = Book.objects.annotate(rank=Window(RowNumber(), order_by=F("pages").desc())).order_by("rank").values_list("pages", flat=True)
assert list(ranked[:2]) == [191, 181]
assert Book.objects.annotate(month=TruncMonth("bought")).values("month").annotate(n=Count("id")).get()["n"] == 20
assert Book.objects.select_related("shelf").order_by("id")[3].shelf.name == "top"
assert Shelf.objects.prefetch_related("books").get().books.count() == 20
book, created = Book.objects.update_or_create(title="Book 3", defaults={"pages": 7})
assert not created and Book.objects.get(title="Book 3").pages == 7
with transaction.atomic():
    locked = Book.objects.select_for_update(skip_locked=True).get(title="Book 4")
    try:
        with transaction.atomic():
            Shelf.objects.create(name="top")
        raise AssertionError("a duplicate was taken")
    except django.db.IntegrityError:
        pass
    locked.delete()
assert Book.objects.count() == 19
user = User.objects.create_user("reader", password="secret")
user.groups.add(Group.objects.create(name="readers"))
assert User.objects.filter(groups__name="readers").exists()
out = io.StringIO()
call_command("inspectdb", "library_shelf", "library_book", "auth_user", stdout=out)
text = out.getvalue()
for wanted in ["class LibraryBook", "shelf = models.ForeignKey(LibraryShelf, models.DO_NOTHING)", "weight = models.DecimalField(max_digits=6, decimal_places=3, blank=True, null=True)", "class AuthUser", "username = models.CharField(unique=True, max_length=150)"]:
    assert wanted in text, (wanted, text)
with connection.schema_editor() as editor:
    editor.delete_model(Book)
    editor.delete_model(Shelf)
